"""The pickles of archives: plain data, storages, and values of the machine."""
