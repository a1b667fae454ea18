"""Cases: what is asked. Benchmarks, their cases and their protocols, read and checked."""
