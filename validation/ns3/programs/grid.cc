// The published grid over LENA: 25 cells that share a channel, a mesh of wires between them, three
// gateways, UEs that each download a file. Static routes along fewest hops.
//
// Prints one JSON object: what arrived until the end and what it cost. For time alone: where the
// UEs stand is read from a file (columns cell, x_m, y_m) that Backlane's scenario has as well.

#include "cell.h"

#include <ns3/applications-module.h>
#include <ns3/lte-module.h>
#include <ns3/mobility-module.h>
#include <ns3/okumura-hata-propagation-loss-model.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <array>
#include <deque>
#include <fstream>
#include <sstream>

using namespace ns3;

namespace {

constexpr uint32_t SIDE = 5;
constexpr uint32_t CELLS = SIDE * SIDE;
constexpr std::array<uint32_t, 3> GATEWAYS{4, 14, 24};

struct Place {
    uint32_t cell;
    double x;
    double y;
};

std::vector<Place> ReadPlaces(const std::string& file) {
    std::ifstream lines(file);
    NS_ABORT_MSG_IF(!lines, "cannot read " << file);
    std::vector<Place> places;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        Place place{};
        char comma = 0;
        fields >> place.cell >> comma >> place.x >> comma >> place.y;
        places.push_back(place);
    }
    return places;
}

/// A wire between two nodes: their addresses and interface numbers.
struct Wire {
    uint32_t to;
    uint32_t interface;
    Ipv4Address far;
};

/// Lays wires with drop-tail queues and nothing above them.
class Wires {
  public:
    Wires(std::string rate, Time delay, uint32_t queueBytes) : m_delay(delay) {
        m_helper.SetDeviceAttribute("DataRate", StringValue(rate));
        m_helper.SetDeviceAttribute("Mtu", UintegerValue(2000));
        m_helper.SetChannelAttribute("Delay", TimeValue(delay));
        m_helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                          QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, queueBytes)));
    }

    Ipv4InterfaceContainer Lay(Ptr<Node> a, Ptr<Node> b, Ipv4AddressHelper& addresses) {
        auto devices = m_helper.Install(a, b);
        auto interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(devices);
        return interfaces;
    }

  private:
    PointToPointHelper m_helper;
    Time m_delay;
};

}  // namespace

int main(int argc, char* argv[]) {
    std::string file = "ues.csv";
    double seconds = 4.0;
    uint32_t bytes = 10000000;

    CommandLine command(__FILE__);
    command.AddValue("ues", "where the UEs stand", file);
    command.AddValue("seconds", "simulated time", seconds);
    command.AddValue("bytes", "of each download", bytes);
    command.Parse(argc, argv);
    const auto places = ReadPlaces(file);

    Config::SetDefault("ns3::LteEnbPhy::TxPower", DoubleValue(23.0));
    Config::SetDefault("ns3::LteUePhy::TxPower", DoubleValue(23.0));
    Config::SetDefault("ns3::LteUePowerControl::Pcmax", DoubleValue(23.0));
    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                       EnumValue(LteEnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(375000));
    lena::ConfigureTcp("cubic", 1340, 2, 5000000);

    auto epc = CreateObject<NoBackhaulEpcHelper>();
    auto lte = CreateObject<LteHelper>();
    lte->SetEpcHelper(epc);
    lte->SetPathlossModelType(OkumuraHataPropagationLossModel::GetTypeId());
    lte->SetPathlossModelAttribute("Environment", EnumValue(UrbanEnvironment));
    lte->SetPathlossModelAttribute("CitySize", EnumValue(MediumCity));
    lte->SetSchedulerType("ns3::PfFfMacScheduler");
    lte->SetEnbDeviceAttribute("DlEarfcn", UintegerValue(1575));
    lte->SetEnbDeviceAttribute("UlEarfcn", UintegerValue(19575));
    lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(100));
    lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(100));
    lte->SetUeDeviceAttribute("DlEarfcn", UintegerValue(1575));

    NodeContainer cells(CELLS);
    NodeContainer ues(places.size());
    NodeContainer servers(1);
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(cells);
    mobility.Install(ues);
    for (uint32_t cell = 0; cell < CELLS; ++cell) {
        cells.Get(cell)->GetObject<MobilityModel>()->SetPosition(
            Vector(200.0 * (cell % SIDE), 200.0 * (cell / SIDE), 30.0));
    }
    for (uint32_t ue = 0; ue < places.size(); ++ue) {
        ues.Get(ue)->GetObject<MobilityModel>()->SetPosition(
            Vector(places[ue].x, places[ue].y, 1.5));
    }

    auto cellDevices = lte->InstallEnbDevice(cells);
    auto ueDevices = lte->InstallUeDevice(ues);
    InternetStackHelper internet;
    internet.Install(ues);
    internet.Install(servers);

    // The wires. The service gateway is the node of the core that the mesh hangs on.
    const auto sgw = epc->GetSgwNode();
    const uint32_t core = CELLS;
    const auto node = [&](uint32_t id) { return id == core ? sgw : cells.Get(id); };
    std::vector<std::vector<Wire>> wires(CELLS + 1);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    const auto join = [&](Wires& kind, uint32_t a, uint32_t b) {
        auto ends = kind.Lay(node(a), node(b), addresses);
        wires[a].push_back({b, ends.Get(0).second, ends.GetAddress(1)});
        wires[b].push_back({a, ends.Get(1).second, ends.GetAddress(0)});
    };
    Wires mesh("500Mbps", MilliSeconds(4), 500000);
    Wires uplink("1Gbps", MicroSeconds(500), 125000);
    for (uint32_t cell = 0; cell < CELLS; ++cell) {
        if (cell % SIDE + 1 < SIDE) {
            join(mesh, cell, cell + 1);
        }
        if (cell + SIDE < CELLS) {
            join(mesh, cell, cell + SIDE);
        }
    }
    for (uint32_t gateway : GATEWAYS) {
        join(uplink, gateway, core);
    }

    // Breadth first from the core: each cell's way up, and down along the same wires.
    std::vector<const Wire*> up(CELLS, nullptr);
    std::vector<std::vector<uint32_t>> way(CELLS);
    std::deque<uint32_t> frontier{core};
    while (!frontier.empty()) {
        const uint32_t at = frontier.front();
        frontier.pop_front();
        for (const Wire& wire : wires[at]) {
            if (wire.to == core || up[wire.to]) {
                continue;
            }
            for (const Wire& back : wires[wire.to]) {
                if (back.to == at) {
                    up[wire.to] = &back;
                }
            }
            way[wire.to] = at == core ? std::vector<uint32_t>{} : way[at];
            way[wire.to].push_back(wire.to);
            frontier.push_back(wire.to);
        }
    }
    Ipv4StaticRoutingHelper routes;
    const auto table = [&](uint32_t id) {
        return routes.GetStaticRouting(node(id)->GetObject<Ipv4>());
    };
    for (uint32_t cell = 0; cell < CELLS; ++cell) {
        const uint32_t gateway = way[cell].front();
        Ipv4Address coreAddress;
        for (const Wire& wire : wires[gateway]) {
            if (wire.to == core) {
                coreAddress = wire.far;
            }
        }
        const auto cellAddress =
            cells.Get(cell)->GetObject<Ipv4>()->GetAddress(up[cell]->interface, 0).GetLocal();
        for (uint32_t hop : way[cell]) {
            if (hop != gateway) {
                table(hop)->AddHostRouteTo(coreAddress, up[hop]->far, up[hop]->interface);
            }
        }
        uint32_t from = core;
        for (uint32_t hop : way[cell]) {
            for (const Wire& wire : wires[from]) {
                if (wire.to == hop) {
                    table(from)->AddHostRouteTo(cellAddress, wire.far, wire.interface);
                }
            }
            from = hop;
        }
        epc->AddS1Interface(cells.Get(cell), cellAddress, coreAddress,
                            {static_cast<uint16_t>(
                                cellDevices.Get(cell)->GetObject<LteEnbNetDevice>()->GetCellId())});
    }

    Wires internetWire("10Gbps", MilliSeconds(5), 12500000);
    Ipv4AddressHelper outside("11.0.0.0", "255.255.255.252");
    internetWire.Lay(epc->GetPgwNode(), servers.Get(0), outside);
    routes.GetStaticRouting(servers.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", 1);
    auto ueAddresses = epc->AssignUeIpv4Address(NetDeviceContainer(ueDevices));

    const uint16_t port = 5001;
    ApplicationContainer sinks;
    for (uint32_t ue = 0; ue < places.size(); ++ue) {
        routes.GetStaticRouting(ues.Get(ue)->GetObject<Ipv4>())
            ->SetDefaultRoute(epc->GetUeDefaultGatewayAddress(), 1);
        lte->Attach(ueDevices.Get(ue), cellDevices.Get(places[ue].cell));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(ues.Get(ue)));
        BulkSendHelper bulk("ns3::TcpSocketFactory",
                            InetSocketAddress(ueAddresses.GetAddress(ue), port));
        bulk.SetAttribute("SendSize", UintegerValue(13400));
        bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
        bulk.Install(servers.Get(0)).Start(Seconds(1.0) + MilliSeconds(10 * ue));
    }

    Simulator::Stop(Seconds(seconds));
    const double cpuBefore = lena::CpuSeconds();
    Simulator::Run();
    const double cpu = lena::CpuSeconds() - cpuBefore;

    uint64_t delivered = 0;
    uint32_t reached = 0;
    for (uint32_t ue = 0; ue < sinks.GetN(); ++ue) {
        const uint64_t received = sinks.Get(ue)->GetObject<PacketSink>()->GetTotalRx();
        delivered += received;
        reached += received > 0;
    }
    {
        lena::Json json;
        json.Add("ues", places.size());
        json.Add("seconds", seconds);
        json.Add("delivered_bytes", delivered);
        json.Add("ues_reached", reached);
        json.Add("events", Simulator::GetEventCount());
        json.Add("cpu_s", cpu);
        json.Add("memory_mb", lena::PeakMegabytes());
    }
    Simulator::Destroy();
    return 0;
}
