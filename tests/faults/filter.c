/* SPDX-License-Identifier: BSD-3-Clause */
/* A seccomp filter that turns calls of the kernel into signals. */
#include "filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "calls are caught on x86-64 only"
#endif

extern const char faults_passed[]; /* behind the instruction that the filter lets pass */
__asm__(".text\n.globl faults_call\n.hidden faults_call\n.type faults_call,@function\n"
        ".globl faults_passed\n.hidden faults_passed\n"
        "faults_call:\n"
        "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n  mov %r9, %r8\n  mov 8(%rsp), %r9\n"
        "  syscall\n"
        "faults_passed:\n"
        "  ret\n.size faults_call, . - faults_call\n");

#define STATEMENT(code, k)     (struct sock_filter) BPF_STMT(code, k)
#define JUMP(test, k, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | (test) | BPF_K, k, yes, no)
#define LOAD(field, plus)                                                                          \
    STATEMENT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field) + (plus))

/* Lets pass what is called from first to last, which have the same upper half. */
static unsigned short pass_range(struct sock_filter *code, uint64_t first, uint64_t last)
{
    unsigned short n = 0;
    code[n++] = LOAD(instruction_pointer, 4);
    code[n++] = JUMP(BPF_JEQ, (uint32_t)(first >> 32), 0, 4);
    code[n++] = LOAD(instruction_pointer, 0);
    code[n++] = JUMP(BPF_JGE, (uint32_t)first, 0, 2);
    code[n++] = JUMP(BPF_JGT, (uint32_t)last, 1, 0);
    code[n++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return n;
}

/* A sanitizer's own calls are let pass, as are those of its thread that looks for leaks, which
 * blocks the signal. */
static unsigned short pass_sanitizer(struct sock_filter *code, const struct faults_page *page)
{
    unsigned short n = 0;
    for (size_t m = 0; m < page->modules; m++) {
        const uint64_t first = page->module[m].base;
        const uint64_t last = page->module[m].end - 1;
        const bool is_cut = first >> 32 != last >> 32;
        if (strstr(page->module[m].name, "libasan") == NULL)
            continue;
        n = pass_range(code, first, is_cut ? first | UINT32_MAX : last);
        if (is_cut)
            n = (unsigned short)(n + pass_range(code + n, last & ~(uint64_t)UINT32_MAX, last));
        return n;
    }
    return n;
}

/* All calls of the list are trapped but those from faults_call and from a sanitizer. */
static unsigned short write_filter(struct sock_filter *code, const int *numbers, int count,
                                   const struct faults_page *page)
{
    const uint64_t passed = (uint64_t)(uintptr_t)faults_passed;
    unsigned short n = pass_range(code, passed, passed);
    n = (unsigned short)(n + pass_sanitizer(code + n, page));
    code[n++] = LOAD(nr, 0);
    for (int i = 0; i < count; i++)
        code[n++] = JUMP(BPF_JEQ, (uint32_t)numbers[i], (unsigned char)(count - i), 0);
    code[n++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    return n;
}

void faults_filter(const int *numbers, int count, const struct faults_page *page,
                   void (*handler)(int, siginfo_t *, void *))
{
    enum { MOST = 32 };
    const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sock_filter code[2 * MOST];
    const struct sock_fprog program = {
        .len = count <= MOST ? write_filter(code, numbers, count, page) : 0, .filter = code};
    if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("faults: seccomp");
        _exit(98);
    }
}
