"""What is said about tensors of graphs before passes run over them."""
