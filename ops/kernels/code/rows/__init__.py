"""What goes along one dimension: folds, running sums, softmax, normalisation, distances."""
