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

	SUBQ  $4, CX
	JLT   fewMbufs

fourMbufs:
	MOVQ       (SI), AX
	MOVQ       8(SI), BX
	MOVQ       16(SI), DI
	MOVQ       24(SI), R8
	MOVWLZX    16(AX), R9
	MOVWLZX    16(BX), R10
	MOVWLZX    16(DI), R11
	MOVWLZX    16(R8), R12
	ADDQ       (AX), R9
	ADDQ       (BX), R10
	ADDQ       (DI), R11
	ADDQ       (R8), R12
	PREFETCHT0 (R9)
	PREFETCHT0 (R10)
	PREFETCHT0 (R11)
	PREFETCHT0 (R12)
	ADDQ       $32, SI
	SUBQ       $4, CX
	JGE        fourMbufs

fewMbufs:
	ADDQ $4, CX
	JZ   mbufsDone

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

// func PrefetchStride(p unsafe.Pointer, n, stride int)
TEXT ·PrefetchStride(SB), NOSPLIT, $0-24
	MOVQ  p+0(FP), SI
	MOVQ  n+8(FP), CX
	MOVQ  stride+16(FP), DX
	TESTQ CX, CX
	JLE   strideDone

	SUBQ  $4, CX
	JLT   fewStrides
	LEAQ  (DX)(DX*2), BX

fourStrides:
	MOVQ       (SI), AX
	MOVQ       (SI)(DX*1), DI
	MOVQ       (SI)(DX*2), R8
	MOVQ       (SI)(BX*1), R9
	PREFETCHT0 (AX)
	PREFETCHT0 (DI)
	PREFETCHT0 (R8)
	PREFETCHT0 (R9)
	LEAQ       (SI)(DX*4), SI
	SUBQ       $4, CX
	JGE        fourStrides

fewStrides:
	ADDQ $4, CX
	JZ   strideDone

nextStride:
	MOVQ       (SI), AX
	PREFETCHT0 (AX)
	ADDQ       DX, SI
	DECQ       CX
	JNZ        nextStride

strideDone:
	RET

// func PrefetchIndexed(p unsafe.Pointer, n int, field, base uintptr)
TEXT ·PrefetchIndexed(SB), NOSPLIT, $0-32
	MOVQ  p+0(FP), SI
	MOVQ  n+8(FP), CX
	MOVQ  field+16(FP), DX
	MOVQ  base+24(FP), DI
	TESTQ CX, CX
	JLE   indexedDone

	SUBQ  $4, CX
	JLT   fewIndexed

fourIndexed:
	MOVQ       (SI), AX
	MOVQ       8(SI), BX
	MOVQ       16(SI), R8
	MOVQ       24(SI), R9
	MOVL       (AX)(DX*1), AX
	MOVL       (BX)(DX*1), BX
	MOVL       (R8)(DX*1), R8
	MOVL       (R9)(DX*1), R9
	SHLQ       $3, AX
	SHLQ       $3, BX
	SHLQ       $3, R8
	SHLQ       $3, R9
	PREFETCHT0 (DI)(AX*1)
	PREFETCHT0 (DI)(BX*1)
	PREFETCHT0 (DI)(R8*1)
	PREFETCHT0 (DI)(R9*1)
	ADDQ       $32, SI
	SUBQ       $4, CX
	JGE        fourIndexed

fewIndexed:
	ADDQ $4, CX
	JZ   indexedDone

nextIndexed:
	MOVQ       (SI), AX
	MOVL       (AX)(DX*1), AX
	SHLQ       $3, AX
	PREFETCHT0 (DI)(AX*1)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        nextIndexed

indexedDone:
	RET
