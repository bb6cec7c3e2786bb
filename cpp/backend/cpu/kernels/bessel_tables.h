// Coefficients of the Bessel functions. Written by tools/bessel_tables with mpmath;
// in one file because one program writes all of them.
#pragma once

namespace pullback {
namespace {
namespace m {

// x (theta - x + pi/4) + 1/8, where J = M cos(theta), in (x - 6) / (x + 2)
constexpr double kPhase0[] = {
    0x1.b684b9a706705p-10,  -0x1.1021296323b6bp-8,  0x1.c3095ad0cf742p-9,   -0x1.2635d11367bc3p-10,
    0x1.67cea9dacf967p-13,  -0x1.32b104dfbff78p-16, 0x1.477362213d868p-17,  -0x1.292707c68cd9fp-19,
    0x1.6c7fd288afbfbp-24,  -0x1.ddce3fb187feap-23, 0x1.c0b9fd4347febp-26,  0x1.47750957d8e7bp-28,
    0x1.635f32a87fa69p-27,  0x1.1b9ba2b35fe20p-29,  0x1.c70f0125c2b3cp-32,  -0x1.e9f752c77b1bep-32,
    -0x1.4e63e7d451f1bp-32, -0x1.092d973a54d29p-33, -0x1.35ec21c9bcec4p-35, -0x1.2d154c131ade2p-35,
    0x1.bc8291db81d68p-39,  0x1.1c751ed019510p-35,  0x1.c5de24be74851p-37,  -0x1.71b369c95a543p-38,
    -0x1.a6a54b8631619p-39,
};

// pi x M^2 / 2 - 1
constexpr double kModulus0[] = {
    -0x1.b439a58d9e929p-9,  0x1.178cd63342248p-7,   -0x1.f8d9bd9046b6cp-8,  0x1.ae61e40b89573p-9,
    -0x1.01e3ce098ba0fp-10, 0x1.0d0e27260b4aap-12,  -0x1.310c3f8016a6ap-14, 0x1.6265568a614c4p-16,
    -0x1.7facb8eb1ec2ep-18, 0x1.c74d00a354403p-20,  -0x1.0e0fe8175b681p-21, 0x1.250c0fa22ff57p-23,
    -0x1.80ba2c663e994p-25, 0x1.adef9e551175fp-27,  -0x1.e22fce59b5babp-29, 0x1.762de76cc3ebcp-30,
    -0x1.234aaefac85aep-32, 0x1.13fb4603132b4p-33,  -0x1.a7f85ee226a4bp-36, 0x1.9f0a8f6872262p-38,
    -0x1.19fea7012022bp-36, -0x1.3a475ac7abfb2p-38, 0x1.cbb8241919b5bp-40,  0x1.8e3620a2acbe4p-40,
};

// The same for float.
constexpr double kRoughModulus0[] = {
    -0x1.b439a58d9e928p-9,  0x1.178cd6143e4d1p-7,  -0x1.f8d9bd7ffc227p-8,  0x1.ae61f190c8421p-9,
    -0x1.01e3d5242a14ap-10, 0x1.0d0acd94a15abp-12, -0x1.3108b9a545e88p-14, 0x1.631a099b30aeap-16,
    -0x1.806b0f36a7254p-18, 0x1.b50ead8b5d9dbp-20, -0x1.046b3f603b3b5p-21, 0x1.923ea00723dbep-23,
    -0x1.f557212d408e4p-25,
};

// x (theta - x + 3 pi/4) - 3/8
constexpr double kPhase1[] = {
    -0x1.1a7323170a56ep-8,  0x1.65a2772b4544dp-7,   -0x1.38c1f018054d9p-7,  0x1.e5870da9ef737p-9,
    -0x1.dc9b8b0c9d053p-11, 0x1.76fb3c545d102p-13,  -0x1.556825c4cb132p-15, 0x1.e2f332f9b1b53p-18,
    -0x1.4dad1d16405bbp-22, 0x1.568ddbdcb3f9fp-24,  0x1.acd4505e4284dp-25,  -0x1.46b6813e4ddc1p-25,
    -0x1.991b400a2cb71p-29, -0x1.23a3bad97fcecp-28, 0x1.fa8bd115ed30dp-33,  0x1.000b540b5abe6p-31,
    0x1.940fd5c0a0541p-32,  0x1.19025a8975431p-33,  0x1.2f0ae559ac8cfp-35,  0x1.13d65317421ddp-35,
    -0x1.e1b421cf06ae8p-38, -0x1.3302c9f1e7115p-35, -0x1.ca27c99de4a29p-37, 0x1.9e797bcfe356ep-38,
    0x1.c4f92025efb11p-39,
};

// pi x M^2 / 2 - 1
constexpr double kModulus1[] = {
    0x1.4d50e88887c0ep-7,  -0x1.b2b0a1b6eb55fp-6,  0x1.9ae265baabde7p-6,  -0x1.8d82a082679b4p-7,
    0x1.2d1381401f086p-8,  -0x1.a04a8e9d096d8p-10, 0x1.1ddd6cf66f7eep-11, -0x1.85b7f56908adcp-13,
    0x1.05219e6b859cap-14, -0x1.5fb2d165d0c90p-16, 0x1.d892b60f5bf44p-18, -0x1.3a6bd6ba50d4dp-19,
    0x1.a73ff5e916944p-21, -0x1.19fabc88e831ap-22, 0x1.774a4b21323a3p-24, -0x1.fb8a9ee180398p-26,
    0x1.4a9d35ec66294p-27, -0x1.bfd081420321bp-29, 0x1.3aac7d177c2afp-30, -0x1.9fbdbc4b2b49fp-32,
    0x1.a4c3386f4adb8p-34, -0x1.7e2181762f53cp-36, 0x1.b02ef52a70ab5p-36, -0x1.6c56bd4c17a34p-37,
};

// The same for float.
constexpr double kRoughModulus1[] = {
    0x1.4d50e88887c0fp-7,  -0x1.b2b0a067b5f4ep-6,  0x1.9ae2654b7dee0p-6,  -0x1.8d82e98b1d72fp-7,
    0x1.2d13b1b2999cap-8,  -0x1.a0387b0817892p-10, 0x1.1dd16f2dd1d5ep-11, -0x1.879e98fa3403ap-13,
    0x1.066474d9a61c2p-14, -0x1.47362ea00dfc9p-16, 0x1.b814538332132p-18, -0x1.cc19660329c6ap-19,
    0x1.345283edd991ap-20,
};

// J0 = 1 - z/4 + z^2 (1/64 - z p(z))
constexpr double kNearJ0[] = {
    0x1.c71c71c71c71cp-12, -0x1.c71c71c71c71cp-18, 0x1.23456789abcdfp-24, -0x1.02e85c0898b67p-31,
    0x1.522a43f6538dcp-39, -0x1.522a43f56c1a3p-47, 0x1.0b31320591304p-55, -0x1.56012b480137bp-64,
    0x1.69a2f4decd692p-73, -0x1.38374fe1d5408p-82,
};

// J1 = x/2 (1 - z/8 + z^2 (1/192 - z p(z)))
constexpr double kNearJ1[] = {
    0x1.c71c71c71c71cp-14, -0x1.6c16c16c16c17p-20, 0x1.845c8a0ce5129p-27, -0x1.27e4fb7789f57p-34,
    0x1.522a43f653f82p-42, -0x1.2c9758da70c5fp-50, 0x1.ab81e9deb226fp-59, -0x1.f1762d44a52dfp-68,
    0x1.e2361a7afbaeep-77, -0x1.81146c1b01862p-86,
};

// pi/2 Y0 = L J0 + z/4 - z^2 (3/128 - z p(z)), L = log(x/2) + 0.577…
constexpr double kNearY0[] = {
    0x1.a12f684bda12fp-11, -0x1.da12f684bda13p-17, 0x1.4c88d634a424bp-23, -0x1.3d2970bdbb128p-30,
    0x1.b6682a64d443ep-38, -0x1.cb8acea2c9b99p-46, 0x1.79f067a13be27p-54, -0x1.f4dc2e5515171p-63,
    0x1.1104b2c6b8716p-71, -0x1.e414935a0d4a4p-81,
};

// pi/2 Y1 = L J1 - 1/x - x/4 + x z (5/64 - z p(z))
constexpr double kNearY1[] = {
    0x1.1c71c71c71c72p-8,  -0x1.bda12f684bda1p-14, 0x1.8d76b54932710p-20, -0x1.cb8fa35c0f0ebp-27,
    0x1.7509d2f885f7ap-34, -0x1.c0f97c8238a17p-42, 0x1.a0d4ea9ccf403p-50, -0x1.33b17cbfb5989p-58,
    0x1.71b81d2235bc3p-67, -0x1.6543a93bd70a6p-76,
};

// Coefficients for x <= 8 in x / 4 - 1, and for x > 8 in 16 / x - 1.
struct Ranges {
  double near, far;
};

// exp(-x) I0(x), times (1 + x)^1 and x^0.5
constexpr Ranges kI0[] = {
    {0x1.08f663b954b98p+0, 0x1.9bd428ad249a5p-2},
    {0x1.0d4c371834425p-2, 0x1.b87969bb93bd5p-9},
    {0x1.50de64a468b35p-6, 0x1.1daa72b5e72d1p-13},
    {-0x1.1310cc8adcbacp-4, 0x1.75e5ee6f763bcp-17},
    {0x1.49e7c99b3d922p-4, 0x1.8e5139f027210p-20},
    {-0x1.3503f87fbbe3ep-4, 0x1.3f49b098a66a4p-22},
    {0x1.cf087ef6cf5a1p-5, 0x1.7d0fce03dfcffp-24},
    {-0x1.f56efc789404cp-6, 0x1.51ca2accf189ap-25},
    {0x1.76e402ab151b1p-8, 0x1.72106968bad59p-26},
    {0x1.8f0fa99d60152p-7, 0x1.042cc9d7d341ap-27},
    {-0x1.58f3df2f591e8p-6, -0x1.cbd492e9c992bp-28},
    {0x1.6d56299a73aeap-6, -0x1.d0216b0049a11p-27},
    {-0x1.36272558fad15p-6, -0x1.85844c88eed86p-28},
    {0x1.c6c3b69a981eep-7, 0x1.10adfc213799ep-27},
    {-0x1.29a9c2736dcb5p-7, 0x1.1c3eec0de6264p-27},
    {0x1.627d3d334c0fep-8, -0x1.394d63c8c66d7p-28},
    {-0x1.84c269bf76623p-9, -0x1.0d8d1ff17ca10p-27},
    {0x1.8c07d9044ba44p-10, 0x1.f32d654c0674ap-29},
    {-0x1.793c965bc36f9p-11, 0x1.ca3e6acb80ccap-28},
    {0x1.51c15d9f9202ap-12, -0x1.feefc3e64f0fap-29},
    {-0x1.1d730e914779dp-13, -0x1.5e44f57071e25p-28},
    {0x1.c935de306ba2ap-15, 0x1.f6a7c40de6651p-29},
    {-0x1.5c566a6676c16p-16, 0x1.c53fc1a2add76p-29},
    {0x1.f936d513a7a76p-18, -0x1.917e469fed6b4p-29},
    {-0x1.5b7a2be49a85fp-19, -0x1.ccfd82d965c7bp-30},
    {0x1.cdf8951f96970p-21, 0x1.de8fbed7cd3f5p-30},
    {-0x1.349c1d315e53dp-22, 0x1.51bd42f740cd7p-31},
    {0x1.7632decbe1000p-24, -0x1.8a7b62afcd08bp-31},
    {-0x1.4d22166af1e76p-26, -0x1.38b01ae0e7232p-33},
    {0x1.892ef2d7d229ep-28, 0x1.8f19b78105ceap-33},
    {-0x1.c4bda09c5665ep-29, 0x1.1075c7c010482p-36},
    {0x1.cfd399cfeee55p-31, -0x1.743eb24db2145p-36},
};

// The digits that the first two lose.
constexpr Ranges kI0Low[] = {
    {0x1.332229ad03b9dp-54, -0x1.d5c5392e333c4p-56},
    {0x1.948be8b4ae439p-56, -0x1.45d0849ba6b23p-64},
};

// The same for float.
constexpr Ranges kRoughI0[] = {
    {0x1.08f663b954b56p+0, 0x1.9bd428ad21aedp-2},
    {0x1.0d4c371834473p-2, 0x1.b87969b93d2c4p-9},
    {0x1.50de64a5c4b48p-6, 0x1.1daa793d1217ep-13},
    {-0x1.1310cc8af646bp-4, 0x1.75e697f521d54p-17},
    {0x1.49e7c9883b878p-4, 0x1.8e2c6e68b4e45p-20},
    {-0x1.3503f87a26ee0p-4, 0x1.3e49898478fa5p-22},
    {0x1.cf0882393ecabp-5, 0x1.860b6cd905b3fp-24},
    {-0x1.f56efe62bb239p-6, 0x1.7689890247354p-25},
    {0x1.76e2d9b1b7472p-8, 0x1.3d1f7abde1524p-26},
    {0x1.8f0fd53c5883dp-7, -0x1.074ea1e5f4127p-29},
    {-0x1.58f1e8d0aa089p-6, -0x1.d1882b505de02p-28},
    {0x1.6d5595f9ae9b1p-6, -0x1.32bb30edaf164p-29},
    {-0x1.362fa6adacc4bp-6, 0x0.0p+0},
    {0x1.c6c8b6d66ac89p-7, 0x0.0p+0},
    {-0x1.29787f4983f0ep-7, 0x0.0p+0},
    {0x1.626041a1421efp-8, 0x0.0p+0},
    {-0x1.864771fca9bd7p-9, 0x0.0p+0},
    {0x1.8ceceac447e28p-10, 0x0.0p+0},
    {-0x1.710c1c4cdf59dp-11, 0x0.0p+0},
    {0x1.4ced785816c53p-12, 0x0.0p+0},
    {-0x1.3af1e9a2c4f3fp-13, 0x0.0p+0},
    {0x1.ec0c3dd05d80fp-15, 0x0.0p+0},
    {-0x1.abd7c69344e88p-17, 0x0.0p+0},
    {0x1.59fdc9a7df928p-18, 0x0.0p+0},
    {-0x1.57b1859194ad5p-18, 0x0.0p+0},
    {0x1.b17429d42091bp-20, 0x0.0p+0},
};

// exp(-x) I1(x) / x, times (1.5 + x)^2 and x^1.5
constexpr Ranges kI1[] = {
    {0x1.5a0fc6ac9418dp+0, 0x1.8ebe783a84030p-2},
    {0x1.e03f72cbb57eep-4, -0x1.3f796198ee63fp-7},
    {0x1.59309e5ec5518p-4, -0x1.cbc54df1edcd2p-13},
    {-0x1.c3004ac1ab58ep-5, -0x1.f89c230412402p-17},
    {0x1.30ccf31c978c1p-8, -0x1.ec8e0fe819532p-20},
    {0x1.35d852b9ed825p-5, -0x1.761387d53e6fep-22},
    {-0x1.f0bdf047f7856p-5, -0x1.ad8e133b0f874p-24},
    {0x1.0094f6ce89612p-4, -0x1.7275f93b918dep-25},
    {-0x1.9b9a4959f71fep-5, -0x1.916bcdf9157cbp-26},
    {0x1.0982b1c7ec701p-5, -0x1.222644d32dadfp-27},
    {-0x1.0a2eadd369326p-6, 0x1.cac204d2d3da0p-28},
    {0x1.50609e23d6421p-8, 0x1.e57e2f7c2b7ffp-27},
    {0x1.877fb909ebec8p-11, 0x1.ad72ddb105e83p-28},
    {-0x1.759f21f12c8d2p-9, -0x1.135951dd72fb6p-27},
    {0x1.7c875af60dd6cp-9, -0x1.2d3fa88a3801dp-27},
    {-0x1.1e426f378e2ffp-9, 0x1.31ebc5b3a4dc4p-28},
    {0x1.6c7130292da23p-10, 0x1.1a621fa118771p-27},
    {-0x1.9c50c4378eab7p-11, -0x1.e2147eb0dd171p-29},
    {0x1.a8c0bae9f5608p-12, -0x1.de78773120eadp-28},
    {-0x1.94365ae52e03ap-13, 0x1.f307825fef82cp-29},
    {0x1.66be92f7cb8fcp-14, 0x1.6de8edcc1d496p-28},
    {-0x1.2b1b17e4f66c1p-15, -0x1.f102bb75bb1cfp-29},
    {0x1.d779f97708805p-17, -0x1.da6a91ef16001p-29},
    {-0x1.5fd219bda6945p-18, 0x1.9033cb23312abp-29},
    {0x1.ef887697ef3a7p-20, 0x1.e3a107c78cabep-30},
    {-0x1.50ad0d347c91bp-21, -0x1.df6ce97f8448ep-30},
    {0x1.cc6754341edefp-23, -0x1.6319e2008d027p-31},
    {-0x1.1b89faa27e507p-24, 0x1.8c79ebc7c948fp-31},
    {0x1.f7612b222dc75p-27, 0x1.496627297e9dap-33},
    {-0x1.2e41660ed8c54p-28, -0x1.91ffa78118d4dp-33},
    {0x1.6824f11cc2030p-29, -0x1.1f8004b575380p-36},
    {-0x1.747c1c82eaea3p-31, 0x1.7787e44c3d7dbp-36},
};

// The digits that the first two lose.
constexpr Ranges kI1Low[] = {
    {0x1.073ec2cb5ad2cp-54, -0x1.468b2e30d0ba7p-58},
    {0x1.5f2f88c9d7c31p-58, -0x1.264835c0f33a3p-62},
};

// The same for float.
constexpr Ranges kRoughI1[] = {
    {0x1.5a0fc6ac941bfp+0, 0x1.8ebe783a86e1bp-2},
    {0x1.e03f72cbb5701p-4, -0x1.3f79619851405p-7},
    {0x1.59309e5e8386dp-4, -0x1.cbc5545adaeeep-13},
    {-0x1.c3004ac1842b1p-5, -0x1.f89cd4fd62221p-17},
    {0x1.30ccf40292493p-8, -0x1.ec6a2125d0890p-20},
    {0x1.35d852b15e159p-5, -0x1.7506ed2ac888ap-22},
    {-0x1.f0bdf2beec4dfp-5, -0x1.b63453e5ce0c0p-24},
    {0x1.0094f72c7e263p-4, -0x1.98e670bbfd02bp-25},
    {-0x1.9b9a2d48d69b6p-5, -0x1.60d759be6e04ap-26},
    {0x1.0982a96b86c06p-5, 0x1.8a077771686fbp-30},
    {-0x1.0a30299b19763p-6, 0x1.f1bf409549bdcp-28},
    {0x1.506262d3edcd3p-8, 0x1.57f5ca7efd002p-29},
    {0x1.884d6fe048b8fp-11, 0x0.0p+0},
    {-0x1.75ae770e3a10dp-9, 0x0.0p+0},
    {0x1.7bf274501edfcp-9, 0x0.0p+0},
    {-0x1.1e1603a896ba5p-9, 0x0.0p+0},
    {0x1.6ebceee1ae137p-10, 0x0.0p+0},
    {-0x1.9dafbed033d84p-11, 0x0.0p+0},
    {0x1.9c62f37ca3097p-12, 0x0.0p+0},
    {-0x1.8cd183f914c2cp-13, 0x0.0p+0},
    {0x1.934049bddc1acp-14, 0x0.0p+0},
    {-0x1.45c43eaa2e62ap-15, 0x0.0p+0},
    {0x1.0ce67f9e024dfp-17, 0x0.0p+0},
    {-0x1.cc31c938d2f1cp-19, 0x0.0p+0},
    {0x1.f7488c94d07dap-19, 0x0.0p+0},
    {-0x1.42cc56454911bp-20, 0x0.0p+0},
};

// exp(-x) I1'(x), times (1 + x)^1 and x^0.5
constexpr Ranges kI1Slope[] = {
    {0x1.9f863dd62c539p-1, 0x1.82e841297c5a2p-2},
    {0x1.8f36a5c1903d4p-2, -0x1.4db37ff64a183p-6},
    {-0x1.34242cf669f7ep-4, 0x1.8e13137e2fe64p-11},
    {0x1.8ce0c3c93ad51p-9, 0x1.b09a7f48d2967p-16},
    {0x1.23ef9f4659d49p-5, 0x1.54b4163868812p-19},
    {-0x1.bb4a785f2be5ep-5, 0x1.d1ce6d1000a60p-22},
    {0x1.bc943a8870762p-5, 0x1.f56d90eb6a543p-24},
    {-0x1.4f6f37b094c33p-5, 0x1.9ea34cc80c937p-25},
    {0x1.680cd42ee0a89p-6, 0x1.b975f77b6ed45p-26},
    {-0x1.349e458590217p-8, 0x1.487ca7e428cc2p-27},
    {-0x1.b65ba0d45f0c2p-8, -0x1.c43eec8f4f4e6p-28},
    {0x1.7d4483fc0e25cp-7, -0x1.fccf5e1ea2f7ep-27},
    {-0x1.8357d37e8e815p-7, -0x1.dcf632b0513c2p-28},
    {0x1.38ec2859d2b32p-7, 0x1.1477fa51869a5p-27},
    {-0x1.b3e19a499d0e3p-8, 0x1.401595cfce06cp-27},
    {0x1.0f1daa7429ff9p-8, -0x1.26c42b12b9bb0p-28},
    {-0x1.332798919564dp-9, -0x1.281306f7ca6a7p-27},
    {0x1.40e9ba6549f9dp-10, 0x1.cab6254ece285p-29},
    {-0x1.37f211bbf55d1p-11, 0x1.f3c5271e1f513p-28},
    {0x1.1bfc65b9a2182p-12, -0x1.e2512d2629ea7p-29},
    {-0x1.e6bdefce85f61p-14, -0x1.7e640eb0fa0eap-28},
    {0x1.8a74585473d08p-15, 0x1.e7fad20bbe6dcp-29},
    {-0x1.2f9e9e0546738p-16, 0x1.f0d4814c8872fp-29},
    {0x1.bc44377b06975p-18, -0x1.8cdada332f1dfp-29},
    {-0x1.33d7e2d1db2e1p-19, -0x1.fbb895634e829p-30},
    {0x1.9c26314ae738cp-21, 0x1.de4c7cf34cb92p-30},
    {-0x1.156b89f81094dp-22, 0x1.75a745afd895cp-31},
    {0x1.522012d132a05p-24, -0x1.8d11634c40cd2p-31},
    {-0x1.2cb9e4e9dd2dcp-26, -0x1.5b502e8c2b70cp-33},
    {0x1.64fdf44159acbp-28, 0x1.93a34f867f721p-33},
    {-0x1.9fdd62295e904p-29, 0x1.2fa9a9a5d5473p-36},
    {0x1.ab71a4149c820p-31, -0x1.79bf30471e98bp-36},
};

// The digits that the first two lose.
constexpr Ranges kI1SlopeLow[] = {
    {-0x1.6aeba95903836p-57, -0x1.d0a81d65a760ep-56},
    {0x1.409ceac3cfac0p-57, -0x1.5e211be6826fap-60},
};

// The same for float.
constexpr Ranges kRoughI1Slope[] = {
    {0x1.9f863dd62c4c2p-1, 0x1.82e841297996bp-2},
    {0x1.8f36a5c19041ap-2, -0x1.4db37ff69cb22p-6},
    {-0x1.34242cf61b67ep-4, 0x1.8e131508a2a19p-11},
    {0x1.8ce0c3c655347p-9, 0x1.b09adccfe9732p-16},
    {0x1.23ef9f2405cfbp-5, 0x1.54a2f1cc21b74p-19},
    {-0x1.bb4a78550b3a7p-5, 0x1.d0b480a099a52p-22},
    {0x1.bc943d79ea243p-5, 0x1.fd837650e5998p-24},
    {-0x1.4f6f388ee84c6p-5, 0x1.c6de7a8ac0c6fp-25},
    {0x1.680c912522256p-6, 0x1.8f5b798820feap-26},
    {-0x1.349df6616400fp-8, -0x1.8cccc309214e6p-31},
    {-0x1.b6548a73f2457p-8, -0x1.0b85a419afeaep-27},
    {0x1.7d4378276d484p-7, -0x1.867275a8481dfp-29},
    {-0x1.83672f1ee0935p-7, 0x0.0p+0},
    {0x1.38f0b19b839f0p-7, 0x0.0p+0},
    {-0x1.b388a80fb043ap-8, 0x0.0p+0},
    {0x1.0f0360e36f15ap-8, 0x0.0p+0},
    {-0x1.3486c44ae6974p-9, 0x0.0p+0},
    {0x1.41b9795ee89c2p-10, 0x0.0p+0},
    {-0x1.308deed394094p-11, 0x0.0p+0},
    {0x1.179bb4577a7cfp-12, 0x0.0p+0},
    {-0x1.0dfc2f3fae272p-13, 0x0.0p+0},
    {0x1.aa09b00a1fd48p-15, 0x0.0p+0},
    {-0x1.6cc4721c17029p-17, 0x0.0p+0},
    {0x1.2bf7832c41145p-18, 0x0.0p+0},
    {-0x1.3316cd1ef4028p-18, 0x0.0p+0},
    {0x1.857033900da55p-20, 0x0.0p+0},
};

// (exp(-x) I0(x))', times (2 + x)^3 and x^1.5
constexpr Ranges kI0eSlope[] = {
    {-0x1.868aff03d12bap+2, -0x1.a2b60e5412e94p-3},
    {-0x1.ff2cefa838229p+0, -0x1.5c35b6780d410p-8},
    {-0x1.12af408dd994ap+1, -0x1.88229dbdd4713p-12},
    {0x1.d17b125022d50p+0, -0x1.78f357df7e65ep-15},
    {-0x1.6aa8eff99aad4p+0, -0x1.11f1342b402dcp-17},
    {0x1.5f1cbe681d432p-1, -0x1.22f5a02ec8fd6p-19},
    {0x1.6416f36f95f80p-4, -0x1.c965510b5119ap-21},
    {-0x1.30f796472cca5p-1, -0x1.f5b5a5fa63fbcp-22},
    {0x1.73a1bc57de17fp-1, -0x1.0dc4761cfb4d1p-22},
    {-0x1.24833e19dd8b1p-1, -0x1.59444e214aae3p-28},
    {0x1.40bae9ed0137ap-2, 0x1.d5e87d709842ep-23},
    {-0x1.8411ea0e35ed4p-4, 0x1.dfb71d0bdcde2p-23},
    {-0x1.ce0af61a62975p-6, -0x1.1403c75e73fe4p-25},
    {0x1.13fca241c659ep-4, -0x1.df065c270d95bp-23},
    {-0x1.ea8d53f37b8f2p-5, -0x1.c1a5302f22af4p-25},
    {0x1.35fc1ebd3a9e0p-5, 0x1.a605e0c9fe50ap-23},
    {-0x1.2d7dec40c70afp-6, 0x1.2cd22b3cbd718p-24},
    {0x1.a8b8fb4471393p-8, -0x1.8bb98e9d979bbp-23},
    {-0x1.e7813026419bfp-11, -0x1.f05278cbfd866p-25},
    {-0x1.d1e6619989a38p-11, 0x1.78926fc48f063p-23},
    {0x1.17831b4954db1p-10, 0x1.31298a4bd986ap-25},
    {-0x1.8ef20afd8189ap-11, -0x1.46350273dec23p-23},
    {0x1.ce8a495a9ad30p-12, -0x1.0db6e47ab5e86p-26},
    {-0x1.cfafd5a3ddc67p-13, 0x1.d446c2003cc51p-24},
    {0x1.97ffe521a3e8ap-14, 0x1.252b474e48b8ap-28},
    {-0x1.5a2bf8ba4279bp-15, -0x1.01d1de8ab8ed9p-24},
    {0x1.35a2a0f1be672p-16, -0x1.663f0c991c267p-32},
    {-0x1.bad135fd30221p-18, 0x1.9113a36e2f997p-26},
    {0x1.4d10d7e403bb2p-20, -0x1.7e49649a0acbbp-33},
    {-0x1.f209fd0577d8bp-22, -0x1.849a645c3efb6p-28},
    {0x1.d66e8bc76f418p-22, 0x1.72e04401398bbp-35},
    {-0x1.0e23402c2e525p-23, 0x1.5eb5470ce4304p-31},
};

// The digits that the first two lose.
constexpr Ranges kI0eSlopeLow[] = {
    {0x1.12dcbc708ede6p-56, 0x1.1e86bcf091ad2p-58},
    {-0x1.99438d93de550p-56, 0x1.94a5ceac98a71p-63},
};

// The same for float.
constexpr Ranges kRoughI0eSlope[] = {
    {-0x1.868aff03d0de6p+2, -0x1.a2b60e535fde3p-3},
    {-0x1.ff2cefa8388c1p+0, -0x1.5c35b66815a51p-8},
    {-0x1.12af408ea58bdp+1, -0x1.882302bdc5186p-12},
    {0x1.d17b1250ae176p+0, -0x1.78f59ddbe71a2p-15},
    {-0x1.6aa8efa084398p+0, -0x1.115bc2c243d95p-17},
    {0x1.5f1cbe2b47dd2p-1, -0x1.2131e25573a09p-19},
    {0x1.6416795096f7fp-4, -0x1.f25b6a1112c32p-21},
    {-0x1.30f7911097f9ep-1, -0x1.1d148fad3174dp-21},
    {0x1.73a269fd9a609p-1, -0x1.a4388954c8a8bp-24},
    {-0x1.2483796d1489ap-1, 0x1.4530dc120e66fp-23},
    {0x1.40b1bfd3f04ecp-2, 0x1.4b91e2b0bba8cp-24},
    {-0x1.8405623d91015p-4, -0x1.8e593e9967636p-30},
    {-0x1.cb90e17baa7c4p-6, 0x0.0p+0},
    {0x1.13c6686bdbd48p-4, 0x0.0p+0},
    {-0x1.ee20a75e06b08p-5, 0x0.0p+0},
    {0x1.37358b60cdb03p-5, 0x0.0p+0},
    {-0x1.1f6f0c74c18b6p-6, 0x0.0p+0},
    {0x1.9570e6d5aacd6p-8, 0x0.0p+0},
    {-0x1.107a58b8d4d48p-9, 0x0.0p+0},
    {-0x1.02efb9eb27b5dp-11, 0x0.0p+0},
    {0x1.1222c294af1fdp-9, 0x0.0p+0},
    {-0x1.2413ae67f2d74p-10, 0x0.0p+0},
    {-0x1.19aa71724a8e7p-13, 0x0.0p+0},
    {-0x1.6f71b02283adfp-16, 0x0.0p+0},
    {0x1.1f5f87c549105p-12, 0x0.0p+0},
    {-0x1.b00b237d980dep-14, 0x0.0p+0},
};

// (exp(-x) I1(x))', times (2 + x)^3 and x^1.5
constexpr Ranges kI1eSlope[] = {
    {-0x1.c6709cf8d82ffp+1, -0x1.7ac6e220f51ccp-3},
    {-0x1.06bfc319c3230p+2, 0x1.ed943cd4f5047p-7},
    {0x1.f65dea9dcf7fcp-1, 0x1.3702a25b65abep-11},
    {-0x1.aee181f089044p+0, 0x1.f71a60a082f5ep-15},
    {0x1.89ea9733a71f5p+0, 0x1.4f82f62843582p-17},
    {-0x1.d9da13623c4bep-1, 0x1.51b8112970cb6p-19},
    {0x1.4c339f661af25p-3, 0x1.ff171372b30a9p-21},
    {0x1.a2959a9b883fdp-2, 0x1.12023290eb16cp-21},
    {-0x1.3fab0a1f299c0p-1, 0x1.26db32fc8ca4ep-22},
    {0x1.14c1017bc68a2p-1, 0x1.cec86be3d3051p-27},
    {-0x1.4ae7ab92d664fp-2, -0x1.e43e8d972ee1bp-23},
    {0x1.e5aa4c60e5598p-4, -0x1.fe0f00039f962p-23},
    {0x1.9b0d1cbceaa6dp-8, 0x1.bcaad750a6827p-26},
    {-0x1.b1466b4d2566cp-5, 0x1.f03bf144e4c56p-23},
    {0x1.ad5feb64e897ep-5, 0x1.067a8d28d857dp-24},
    {-0x1.1e4c1b2bf4ba4p-5, -0x1.af953ef79b778p-23},
    {0x1.239cb40e69734p-6, -0x1.501e6f30e0806p-24},
    {-0x1.b875dd476da0ap-8, 0x1.9341e0985b100p-23},
    {0x1.5a66711051a74p-10, 0x1.1610c3d910d1ep-24},
    {0x1.31ff05b83b5d8p-11, -0x1.805e8dce0ec44p-23},
    {-0x1.cdc8f5bb979b6p-11, -0x1.5ee6a8055d2fdp-25},
    {0x1.5bc9e3bd07a0dp-11, 0x1.4df90d61b5aeap-23},
    {-0x1.9df57fe283928p-12, 0x1.490436b898a87p-26},
    {0x1.a579ed89ead1ep-13, -0x1.e0c86059564e6p-24},
    {-0x1.766e438d908b8p-14, -0x1.9e1389402be3ap-28},
    {0x1.408416c5a93e8p-15, 0x1.094f9230b6fecp-24},
    {-0x1.21869e130c80cp-16, 0x1.0b1cb4268d8adp-30},
    {0x1.9fe2b6f3efd0dp-18, -0x1.9d7772cc6de3bp-26},
    {-0x1.3674396dc7776p-20, 0x1.a719eb846170ep-36},
    {0x1.d3c78dfb316ccp-22, 0x1.912a619847c20p-28},
    {-0x1.bfc0a3853a170p-22, -0x1.c640834cfddf7p-36},
    {0x1.01b6945918d88p-23, -0x1.6a71862f461c3p-31},
};

// The digits that the first two lose.
constexpr Ranges kI1eSlopeLow[] = {
    {-0x1.1e8a9ac549087p-55, 0x1.40238a01f86a1p-61},
    {0x1.3dad3997fc94ap-52, 0x1.6fd539aa9b9a8p-64},
};

// The same for float.
constexpr Ranges kRoughI1eSlope[] = {
    {-0x1.c6709cf8d8c11p+1, -0x1.7ac6e221ade52p-3},
    {-0x1.06bfc319c30a2p+2, 0x1.ed943ccc5c12dp-7},
    {0x1.f65deaa0cdac3p-1, 0x1.3702d6759947fp-11},
    {-0x1.aee181f10c4b6p+0, 0x1.f71cd31b3fa2bp-15},
    {0x1.89ea96dffde83p+0, 0x1.4ee906e6fdea7p-17},
    {-0x1.d9da1328e3958p-1, 0x1.4fd2bffaccb1bp-19},
    {0x1.4c33d8bd19f9fp-3, 0x1.1490fa46e6425p-20},
    {0x1.a29590c76a01bp-2, 0x1.36a2f6b8f1450p-21},
    {-0x1.3fabad2eba51ap-1, 0x1.fc6e5fc46429ep-24},
    {0x1.14c13967cc28ap-1, -0x1.4844eb00f137dp-23},
    {-0x1.4adf109c9b98ap-2, -0x1.6aadd6ba1044ap-24},
    {0x1.e59e7cb0e32c3p-4, -0x1.21925664929cfp-30},
    {0x1.91bfaf7426fcep-8, 0x0.0p+0},
    {-0x1.b0e032a103527p-5, 0x0.0p+0},
    {0x1.b0bb452428a60p-5, 0x0.0p+0},
    {-0x1.1f7380de67786p-5, 0x0.0p+0},
    {0x1.166a52999fd8ap-6, 0x0.0p+0},
    {-0x1.a64a26e70f307p-8, 0x0.0p+0},
    {0x1.3a8cea5338d7bp-9, 0x0.0p+0},
    {0x1.bbeefa6d93ac5p-13, 0x0.0p+0},
    {-0x1.e313b2f814f74p-10, 0x0.0p+0},
    {0x1.0521f90cf3be2p-10, 0x0.0p+0},
    {0x1.2fed97794e729p-13, 0x0.0p+0},
    {0x1.c1020f4ac51a2p-17, 0x0.0p+0},
    {-0x1.0b55ee31ce4c1p-12, 0x0.0p+0},
    {0x1.93f6241d6342dp-14, 0x0.0p+0},
};

}  // namespace m
}  // namespace
}  // namespace pullback
