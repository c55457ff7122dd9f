"""Worker processes: started once, fed with chunks by shared memory, ended with the process that hired them."""
