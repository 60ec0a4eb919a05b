// The kernels of the test programs as `programs_kernels`, a string: busy.ptx and vector_add.ptx together are one text for a
// real GPU. The simulator takes any image and has kernels of these names (tests/sim/README.md).
    .section .rodata
    .globl programs_kernels
    .type programs_kernels, @object
programs_kernels:
    .incbin "client/load/busy.ptx"
    .incbin "tests/programs/support/vector_add.ptx"
    .byte 0
    .size programs_kernels, . - programs_kernels
    .section .note.GNU-stack, "", @progbits
