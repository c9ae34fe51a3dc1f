MemcpyHtoD,0x00007f2280000000,512
kernel-1.traceg
