#include "textflag.h"

// func Rdtsc() uint64
TEXT ·Rdtsc(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func RdtscFast() uint64
TEXT ·RdtscFast(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func Prefetch1(p uintptr)
TEXT ·Prefetch1(SB), NOSPLIT, $0-8
	MOVQ       p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func PrefetchN(p unsafe.Pointer, n int)
TEXT ·PrefetchN(SB), NOSPLIT, $0-16
	MOVQ  p+0(FP), SI
	MOVQ  n+8(FP), CX
	TESTQ CX, CX
	JLE   addressesDone

nextAddress:
	MOVQ       (SI), AX
	PREFETCHT0 (AX)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        nextAddress

addressesDone:
	RET

// func PrefetchData(p unsafe.Pointer, n int)
// The frame of an mbuf begins at buf_addr (offset 0) + data_off (offset 16, 16 bits).
TEXT ·PrefetchData(SB), NOSPLIT, $0-16
	MOVQ  p+0(FP), SI
	MOVQ  n+8(FP), CX
	TESTQ CX, CX
	JLE   mbufsDone

nextMbuf:
	MOVQ       (SI), AX
	MOVQ       (AX), BX
	MOVWLZX    16(AX), DX
	PREFETCHT0 (BX)(DX*1)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        nextMbuf

mbufsDone:
	RET
