// When ns-3's OLSR has routes between the EPC and each eNodeB of a 5 x 5 grid, both ways.
//
// usage: olsr_start SEEDS; prints seed,enodeb,time_s of the first time, to 50 ms, at which both have
// a route to the main address of the other. Wires EPC to 5, 15, 25 first, then each eNodeB's wires
// to the right and down, each with a subnet of its own; HELLO 0.1 s, all else as by default.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ns3;

namespace
{
Ptr<olsr::RoutingProtocol>
OlsrOf(Ptr<Node> node)
{
    return Ipv4RoutingHelper::GetRouting<olsr::RoutingProtocol>(
        node->GetObject<Ipv4>()->GetRoutingProtocol());
}

Ipv4Address
MainOf(Ptr<Node> node)
{
    return node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
}

bool
Knows(Ptr<Node> from, Ptr<Node> to)
{
    for (const auto& entry : OlsrOf(from)->GetRoutingTableEntries())
    {
        if (entry.destAddr == MainOf(to))
        {
            return true;
        }
    }
    return false;
}

void
Look(NodeContainer nodes, int seed, std::vector<bool>* found)
{
    for (int n = 1; n <= 25; n++)
    {
        if (!(*found)[n] && Knows(nodes.Get(0), nodes.Get(n)) && Knows(nodes.Get(n), nodes.Get(0)))
        {
            (*found)[n] = true;
            std::printf("%d,%d,%.2f\n", seed, n, Simulator::Now().GetSeconds());
        }
    }
    Simulator::Schedule(MilliSeconds(50), &Look, nodes, seed, found);
}
} // namespace

int
main(int argc, char** argv)
{
    int seeds = argc > 1 ? std::atoi(argv[1]) : 1;
    std::printf("seed,enodeb,both_ways_s\n");
    for (int seed = 1; seed <= seeds; seed++)
    {
        RngSeedManager::SetRun(seed);
        NodeContainer nodes;
        nodes.Create(26);
        OlsrHelper olsr;
        olsr.Set("HelloInterval", TimeValue(MilliSeconds(100)));
        InternetStackHelper internet;
        internet.SetRoutingHelper(olsr);
        internet.Install(nodes);
        PointToPointHelper wire;
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
        auto join = [&](int a, int b, const char* rate, const char* delay) {
            wire.SetDeviceAttribute("DataRate", StringValue(rate));
            wire.SetChannelAttribute("Delay", StringValue(delay));
            addresses.Assign(wire.Install(nodes.Get(a), nodes.Get(b)));
            addresses.NewNetwork();
        };
        for (int n : {5, 15, 25})
        {
            join(0, n, "1Gbps", "0.5ms");
        }
        for (int n = 1; n <= 25; n++)
        {
            if (n % 5 != 0)
            {
                join(n, n + 1, "500Mbps", "4ms");
            }
            if (n <= 20)
            {
                join(n, n + 5, "500Mbps", "4ms");
            }
        }
        std::vector<bool> found(26, false);
        Simulator::Schedule(MilliSeconds(50), &Look, nodes, seed, &found);
        Simulator::Stop(Seconds(16));
        Simulator::Run();
        Simulator::Destroy();
    }
    return 0;
}
