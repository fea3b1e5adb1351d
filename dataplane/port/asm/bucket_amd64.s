#include "textflag.h"

// The words of the bucket at B that are TAG where NUMBERS has no bits, as a mask of 15 bits in A; D is spoilt.
#define MATCH(B, TAG, NUMBERS, A, D) \
	VPANDN    (B), NUMBERS, Y1   \
	VPANDN    32(B), NUMBERS, Y2 \
	VPCMPEQD  TAG, Y1, Y1        \
	VPCMPEQD  TAG, Y2, Y2        \
	VMOVMSKPS Y1, A              \
	VMOVMSKPS Y2, D              \
	SHLL      $8, D              \
	ORL       D, A               \
	ANDL      $0x7fff, A

// func matchAVX2(p uintptr, tag, mask uint32) (found uint32)
TEXT ·matchAVX2(SB), NOSPLIT, $0-20
	MOVQ         p+0(FP), BX
	MOVL         tag+8(FP), AX
	MOVL         mask+12(FP), DX
	NOTL         DX
	VMOVD        AX, X0
	VMOVD        DX, X3
	VPBROADCASTD X0, Y0
	VPBROADCASTD X3, Y3
	MATCH(BX, Y0, Y3, AX, DX)
	VZEROUPPER
	MOVL         AX, found+16(FP)
	RET

// func locateAVX2(in unsafe.Pointer, n, stride int, x *Buckets, out unsafe.Pointer)
// SI in, CX n, R8 stride, DI out; R9 numbers, R10 base, R11 end, R12 lines; R13 hops that are left.
TEXT ·locateAVX2(SB), NOSPLIT, $0-40
	MOVQ         in+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         stride+16(FP), R8
	MOVQ         x+24(FP), AX
	MOVQ         out+32(FP), DI
	TESTQ        CX, CX
	JLE          done
	MOVQ         0(AX), R10
	MOVQ         8(AX), R11
	MOVQ         16(AX), R12
	MOVL         24(AX), R9
	MOVL         $32, R13
	VPBROADCASTD 24(AX), Y3
	VPCMPEQD     Y4, Y4, Y4
	VPSUBD       Y4, Y3, Y4      // numbers + 1: the least tag

nextHash:
	MOVQ         8(SI), BX
	VPBROADCASTD 4(SI), Y0
	VPANDN       Y0, Y3, Y0
	VPMAXUD      Y4, Y0, Y0

nextBucket:
	MATCH(BX, Y0, Y3, AX, DX)
	JZ           notHere
	BSFL         AX, AX
	MOVL         (BX)(AX*4), AX
	ANDL         R9, AX
	SHLQ         $6, AX
	ADDQ         R12, AX
	PREFETCHT0   (AX)

located:
	MOVQ         AX, (DI)
	ADDQ         $8, DI
	ADDQ         R8, SI
	DECQ         CX
	JNZ          nextHash
	VZEROUPPER

done:
	RET

notHere:
	MOVQ         R12, AX
	CMPL         60(BX), $0
	JEQ          located
	ADDQ         $64, AX
	DECL         R13
	JLT          located
	ADDQ         $64, BX
	CMPQ         BX, R11
	CMOVQEQ      R10, BX
	JMP          nextBucket
