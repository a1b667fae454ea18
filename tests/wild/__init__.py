"""Good pages that we did not make, made self-contained, and the damage that is done to copies of them."""
