/* The stubs and the room of core/elf/export_room.hpp. A stub jumps to where the driver has its function. At the
 * first call it isn't known where that is: then stub_address.cpp finds it, while all that a caller may have put
 * into registers for the function is kept. */
#define STUBS 2048
#define STUB_BYTES 32
#define ROOM_BYTES (256 << 10)

#if !defined(__x86_64__)
#error "No stubs for this machine yet: add them here"
#endif

        .section .cgpu.stubs, "ax", @progbits
        .balign STUB_BYTES
        .set stub, 0
        .rept STUBS
        .balign STUB_BYTES
        endbr64
        mov     cgpu_front_stub_addresses + 8 * stub(%rip), %r11
        test    %r11, %r11
        jz      1f
        jmp     *%r11
1:      mov     $stub, %r11d
        jmp     find_function
        .set stub, stub + 1
        .endr
        .balign STUB_BYTES

        .text
        .type   find_function, @function
find_function:
        .cfi_startproc
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        sub     $192, %rsp
        and     $-16, %rsp
        mov     %rdi, (%rsp)
        mov     %rsi, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        mov     %r8, 32(%rsp)
        mov     %r9, 40(%rsp)
        mov     %rax, 48(%rsp)
        mov     %r10, 56(%rsp)
        movaps  %xmm0, 64(%rsp)
        movaps  %xmm1, 80(%rsp)
        movaps  %xmm2, 96(%rsp)
        movaps  %xmm3, 112(%rsp)
        movaps  %xmm4, 128(%rsp)
        movaps  %xmm5, 144(%rsp)
        movaps  %xmm6, 160(%rsp)
        movaps  %xmm7, 176(%rsp)
        mov     %r11d, %edi
        call    cgpu_front_stub_address
        mov     %rax, %r11
        mov     (%rsp), %rdi
        mov     8(%rsp), %rsi
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rcx
        mov     32(%rsp), %r8
        mov     40(%rsp), %r9
        mov     48(%rsp), %rax
        mov     56(%rsp), %r10
        movaps  64(%rsp), %xmm0
        movaps  80(%rsp), %xmm1
        movaps  96(%rsp), %xmm2
        movaps  112(%rsp), %xmm3
        movaps  128(%rsp), %xmm4
        movaps  144(%rsp), %xmm5
        movaps  160(%rsp), %xmm6
        movaps  176(%rsp), %xmm7
        leave
        .cfi_def_cfa %rsp, 8
        jmp     *%r11
        .cfi_endproc
        .size   find_function, . - find_function

        .bss
        .balign 8
        .globl  cgpu_front_stub_addresses
        .hidden cgpu_front_stub_addresses
        .type   cgpu_front_stub_addresses, @object
        .size   cgpu_front_stub_addresses, 8 * STUBS
cgpu_front_stub_addresses:
        .zero   8 * STUBS

        .section .cgpu.exports, "a", @progbits
        .balign 16
        .globl  cgpu_front_export_room
        .hidden cgpu_front_export_room
        .type   cgpu_front_export_room, @object
        .size   cgpu_front_export_room, ROOM_BYTES
cgpu_front_export_room:
        .ascii  "cgpuroom"
        .long   STUB_BYTES, STUBS, 0, 0
        .globl  cgpu_front_stub_names
        .hidden cgpu_front_stub_names
cgpu_front_stub_names:
        .zero   ROOM_BYTES - 24

        .section .note.GNU-stack, "", @progbits
