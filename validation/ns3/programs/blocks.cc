// What LENA's public functions say of blocks on a flat channel: at which SINR each MCS fails in
// half, a tenth and a hundredth of all cases, and at which each CQI begins.
//
// `--what=blocks` and `--what=reports` print CSV; blocks over one group of 100 resource blocks and
// over all of them, reports over groups of 1 to 4 and over each bandwidth.

#include <ns3/core-module.h>
#include <ns3/lte-mi-error-model.h>
#include <ns3/lte-module.h>

#include <cmath>
#include <functional>
#include <iostream>

using namespace ns3;

namespace {

constexpr uint8_t WIDEST = 100;

SpectrumValue Flat(double db) {
    SpectrumValue value(LteSpectrumValueHelper::GetSpectrumModel(3100, WIDEST));
    value = std::pow(10.0, db / 10.0);
    return value;
}

/// The least SINR in dB for which `holds` is true, given that it is so from there on.
double Least(const std::function<bool(double)>& holds) {
    double below = -20.0;
    double above = 40.0;
    while (above - below > 1e-4) {
        const double middle = (below + above) / 2;
        (holds(middle) ? above : below) = middle;
    }
    return above;
}

void PrintBlocks(Ptr<LteAmc> amc) {
    std::cout << "resource_blocks,mcs,bits,half_db,tenth_db,hundredth_db\n";
    for (int blocks : {4, 100}) {
        std::vector<int> map(blocks);
        for (int block = 0; block < blocks; ++block) {
            map[block] = block;
        }
        for (int mcs = 0; mcs <= 28; ++mcs) {
            const int bits = amc->GetDlTbSizeFromMcs(mcs, blocks);
            std::cout << blocks << ',' << mcs << ',' << bits;
            for (double failing : {0.5, 0.1, 0.01}) {
                std::cout << ',' << Least([&](double db) {
                    const auto found = LteMiErrorModel::GetTbDecodificationStats(
                        Flat(db), map, bits / 8, mcs, HarqProcessInfoList_t());
                    return found.tbler <= failing;
                });
            }
            std::cout << '\n';
        }
    }
}

void PrintReports(Ptr<LteAmc> amc) {
    std::cout << "resource_blocks,cqi,mcs,begins_db\n";
    for (int blocks : {1, 2, 3, 4, 6, 15, 25, 50, 75, 100}) {
        for (int cqi = 1; cqi <= 15; ++cqi) {
            const double begins = Least([&](double db) {
                return amc->CreateCqiFeedbacks(Flat(db), blocks).front() >= cqi;
            });
            std::cout << blocks << ',' << cqi << ',' << amc->GetMcsFromCqi(cqi) << ',' << begins
                      << '\n';
        }
    }
}

}  // namespace

int main(int argc, char* argv[]) {
    std::string what = "blocks";
    CommandLine command(__FILE__);
    command.AddValue("what", "blocks or reports", what);
    command.Parse(argc, argv);
    auto amc = CreateObject<LteAmc>();
    if (what == "blocks") {
        PrintBlocks(amc);
    } else {
        PrintReports(amc);
    }
    return 0;
}
