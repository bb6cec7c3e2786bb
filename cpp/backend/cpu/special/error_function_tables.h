// Coefficients of the error functions, for 64 bits. Written by tools/error_tables with mpmath.
#pragma once

#include "backend/cpu/special/long_double.h"

namespace pullback::special {

// (1 + 2 t) exp(t^2) erfc(t) for t >= 0, in (t - 3) / (t + 3).
constexpr Real kErfcx[] = {
    0xa062916bf24c39a2p-63L,  -0x8ae0425dcf4796a9p-66L, -0xc2d0ae2c55309df4p-68L,
    0x84c1b352da35af86p-66L,  -0xf445c01d2446f8c4p-67L, 0x8be5143bf8a92dabp-67L,
    -0xc2ba62060cab30d9p-69L, 0xa5c42721b4d9f080p-72L,  0xf78deec690f0cb64p-73L,
    -0xcc6da87bd37ec2f5p-74L, -0xdc894d17da592aa3p-77L, 0x832d1a749250b432p-76L,
    0xa618d63bb78c79ebp-81L,  -0xa89d8fd9b7d93b0bp-79L, -0xc4e28b9e3e7d3780p-84L,
    0xe9032103f93f6180p-82L,  0xc1e4436067f9c4a1p-85L,  -0xa550d5c0c93477b4p-84L,
    -0x9f1164be97a9e040p-86L, 0xd79bce2f42d96919p-87L,  0xd0791dff38ffa3e3p-88L,
    -0xc71cfc24926b00b1p-90L, -0xe0459eb6b0d754a2p-90L, -0xb8a960ae2e2984dcp-95L,
    0xbf098f97852ed796p-92L,  0xaba710751397deb2p-94L,  -0xe5a77061b9337497p-95L,
    -0xb2dd4842cd081891p-96L, 0x90389cadbe05e0e9p-98L,  0x98346dad8196f819p-99L,
};

// erfinv(x) / x for |x| <= 1/2, in 8 x^2 - 1.
constexpr Real kCentre[] = {
    0xeadb465590f6ad02p-64L,  0x897e007562a9193bp-68L,  0xab5019f5703ce37cp-72L,
    0x8443be95abacc8b6p-75L,  0xe24cab2589c25c9cp-79L,  0xcd9ab6f48192a3bcp-82L,
    0xc257089f776b1fc4p-85L,  0xbce79345af3bbaabp-88L,  0xbb7c452a68dc76fdp-91L,
    0xbd18eb9b5aec3ed2p-94L,  0xc12f0f627b8678b0p-97L,  0xc77063af6890284bp-100L,
    0xcfaf43b4be0954f0p-103L, 0xd94eec4c2d410772p-106L, 0xe54ae30dad5a071cp-109L,
    0x83b5e8415d49b0b2p-111L, 0x8d2adbebdc0ac468p-114L,
};

// The y with erfc(y) = q for q <= 1/2, in s = sqrt(-log q), mapped to [-1, 1]. Four ranges
// of s: from 0.8125 to 2, to 4.5, to 10 and to 27.5, which is beyond every double.
constexpr Real kTail0[] = {
    0x861c9fd40e1cf808p-63L,   0x9d2ed192f9e21b9ap-64L,   0xc3cb528e0ce622a4p-70L,
    -0x8263b6fd928532b6p-70L,  0xd8d63a70f65f6de6p-72L,   -0x90a7bb61948fc3f5p-73L,
    0x9eeaf5e65ffbd4fep-75L,   -0x84bc43aff5c6b90ep-77L,  0xc3e1a5313cd692bfp-81L,
    0xc7ed8e91c9e1e762p-82L,   -0x968cb35357af2f7ap-82L,  0xfed4cd3cbf675e65p-84L,
    -0xa0a50fc1dc620700p-85L,  0x9201b463acf99d2ep-87L,   -0xd3316ea43450eb05p-91L,
    -0x8a8d4846a076c463p-91L,  0xd0d1292ba5587df8p-92L,   -0xb472caf2dd9c76d1p-93L,
    0xe5c1f2cd0ced6405p-95L,   -0xd02d19d969d88f97p-97L,  0x9b295c61a958045ep-100L,
    0xe878ab968a4db1cfp-101L,  -0xd2e8d384d04234b7p-101L, 0xb1a9feb074252b0fp-102L,
    -0xf6d3e92725c1ebc0p-105L,
};

constexpr Real kTail1[] = {
    0xbe6420cc249ec8a7p-62L,   0xa6400b50037ffbcap-63L,   -0x873a8c82891ef32dp-70L,
    0xa67f0cce51fedbc6p-74L,   0xdae731b3a5b68b47p-75L,   -0xaee299572471042ap-75L,
    0xb38061fffb6d813cp-76L,   -0x9d890f527f87fccep-77L,  0xfd8508813a748c18p-79L,
    -0xc00d9b35079da276p-80L,  0x8a8d085af4faf0a0p-81L,   -0xbf2a888756f46fb3p-83L,
    0xfc07e54fba23e22bp-85L,   -0x9dd4af41f5a9c668p-86L,  0xb9540282a906bb36p-88L,
    -0xc6382af61ce402a9p-90L,  0xb339a1c5f9e47e5dp-92L,   -0xce6489592a74f814p-95L,
    -0xe98e9ee0cd005052p-98L,  0xbb5f2d9d3d67cb0cp-97L,   -0x82b8a29eb148cddep-97L,
    0xeba698c17b6f3328p-99L,   -0xda0e62ed675a17e8p-101L, 0xce6679e1bee67069p-102L,
    -0xcbd2be7248226f6bp-102L, 0xfd82cd95f5fc67e4p-104L,
};

constexpr Real kTail2[] = {
    0xe254292860d2280cp-61L,  0xb2a88faa901529b5p-62L,   -0xb3a2d1c8ed051b03p-70L,
    0xc2344afe171d5798p-72L,  -0xce97ec190dba9eb1p-74L,  0xd0047c0bb0fa6822p-76L,
    -0xb8a0fe0f638bc173p-78L, 0xe397736f4b0749e8p-81L,   0xa49855be17ec0aebp-84L,
    -0xa95832be8c99dc3ap-83L, 0xd9ac6c888c66f5e8p-84L,   -0xde706a304d398eefp-85L,
    0xcd3129c75d14185ep-86L,  -0xb27917e42172ace6p-87L,  0x954e65a3325ec801p-88L,
    -0xf30078dd97d637e5p-90L, 0xc22408e23da50787p-91L,   -0x9812f324b7f3946dp-92L,
    0xe488a129646bb503p-94L,  -0xadb07c5627153fc9p-95L,  0x99d35d67179b52d5p-96L,
    -0xe7926207bc0286b8p-98L, 0xf4525068b70e98a0p-101L,  -0xa7685fdfca983b08p-102L,
    0xb78931940ee4ac63p-101L, -0x8527b915f5a02595p-102L,
};

constexpr Real kTail3[] = {
    0x9540603af39f785ap-59L,  0x8c80396d390bbd92p-60L,  -0xc07b44b0a8ee26edp-70L,
    0x96b6c452fca256ebp-71L,  -0xf11cce539261de90p-73L, 0xc3326683937d3fe1p-74L,
    -0x9f19e041a2570032p-75L, 0x821db350779edf22p-76L,  -0xd4fd80b8b4ef70b8p-78L,
    0xae1556f09e8efebdp-79L,  -0x8dcbaef8eca84a92p-80L, 0xe5b4e97397a81faap-82L,
    -0xb89261dfdb8005d8p-83L, 0x92b05efdcfdb0466p-84L,  -0xe5aa039906297965p-86L,
    0xafa551560b741719p-87L,  -0x8269e26f05743719p-88L, 0xc0bccdc55be46fe7p-90L,
    -0x83dfafe29a724aefp-91L, 0xf3836151061a22e3p-95L,  0xc84cc768e45eec90p-96L,
    0xa16b089b91382c43p-94L,  -0xaa20b409164186c6p-95L, -0x8ba8027c3840a1e9p-94L,
    0xa4eeef983b1651d4p-95L,  0xc66e7980aadcc32bp-96L,  -0xdd42775d0f462033p-97L,
    -0xe9dc7f305516930ep-98L, 0xf9de8924790b6de0p-99L,
};

}  // namespace pullback::special
