#!/bin/sh
# hardening.sh PROGRAM: check in a program's headers, symbols and debug information that it was
# built with the hardening of the Makefile.
set -eu
program=$1
export LC_ALL=C
failed=0

fail() {
    echo "hardening: $program: $1 (built before the flags were there? make clean)" >&2
    failed=1
}

headers=$(readelf -hldW "$program")
symbols=$(readelf --dyn-syms -W "$program")

holds() { # TEXT PATTERN
    printf '%s\n' "$1" | grep -Eq "$2"
}

holds "$headers" 'Type: +DYN' || fail "it is not position-independent"
holds "$headers" 'FLAGS_1.*PIE' || fail "it is not a position-independent executable"
holds "$headers" 'GNU_RELRO' ||
    fail "it has no part that becomes read-only after relocation (RELRO)"
holds "$headers" '\((BIND_NOW|FLAGS|FLAGS_1)\).*(BIND_)?NOW' ||
    fail "symbols are bound late, so that their table stays writable"
holds "$headers" 'GNU_STACK .* RW ' || fail "the stack is executable"
! holds "$headers" '(LOAD|GNU_STACK) .* RWE ' || fail "a segment is writable and executable"
! holds "$headers" 'TEXTREL' || fail "its code has relocations (TEXTREL)"
! holds "$headers" '\((RPATH|RUNPATH)\)' || fail "it has a library search path (RPATH)"
holds "$symbols" ' __stack_chk_fail' || fail "the stack is not protected"
if ldd --version 2>&1 | grep -Eq 'GNU|GLIBC'; then # other C libraries have no such functions
    holds "$symbols" ' __(memcpy|snprintf|vsnprintf)_chk' || fail "_FORTIFY_SOURCE is off"
else
    echo "hardening: _FORTIFY_SOURCE is not checked:" \
        "this C library has no names for its checked functions"
fi

# Some flags leave no trace in the code; gcc -g notes all its flags in the debug information.
noted=$(readelf --debug-dump=info "$program" 2>/dev/null |
    grep 'DW_AT_producer' | grep -v 'GNU AS' || true)
if holds "$noted" 'GNU C'; then
    unprotected=$(printf '%s\n' "$noted" | grep 'GNU C' |
        grep -Ev 'fstack-protector-strong.*fstack-clash-protection' || true)
    [ -z "$unprotected" ] ||
        fail "a large frame may jump over the guard page:
$(printf '%s\n' "$unprotected" | head -n 1)"
    unmarked=$(printf '%s\n' "$noted" | grep 'GNU C' |
        grep -Ev 'fcf-protection=(full|branch)' || true)
    if holds "$headers" 'Machine: .*X86-64' && [ -n "$unmarked" ]; then
        fail "a function has no mark for jumps to it:
$(printf '%s\n' "$unmarked" | head -n 1)"
    fi
else
    echo "hardening: $program: large frames and marks of control flow are not checked:" \
        "there is no note of gcc's flags"
fi

[ "$failed" -eq 0 ] && echo "hardening: $program is built as it should be"
exit "$failed"
