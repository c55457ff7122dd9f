"""A fuzzer of the compiler: it writes whole functions as source text and compares the gear llvm with the loop."""
