// The text of kernels.ptx as `programs_kernels`, a string.
    .section .rodata
    .globl programs_kernels
    .type programs_kernels, @object
programs_kernels:
    .incbin "kernels.ptx"
    .byte 0
    .size programs_kernels, . - programs_kernels
    .section .note.GNU-stack, "", @progbits
