"""`import upshift.tensorflow as ut`: TensorFlow's words for mapping, with the loop's results, in the fastest gear."""
