// The text of busy.ptx as `cgpu_load_busy`, a string.
    .section .rodata
    .globl cgpu_load_busy
    .type cgpu_load_busy, @object
cgpu_load_busy:
    .incbin "busy.ptx"
    .byte 0
    .size cgpu_load_busy, . - cgpu_load_busy
    .section .note.GNU-stack, "", @progbits
