"""Commands about the installation itself: what is there and what is wrong, kernels, completion, the manual page."""
