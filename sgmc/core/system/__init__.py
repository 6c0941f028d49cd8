"""The machine and the call: clock, Ctrl-C, progress, threads, memory, storage, files."""
