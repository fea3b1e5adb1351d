package schema

// NSPartition is a partition: a part of the appliance with a configuration of its own.
type NSPartition struct {
	PartitionName string `cli:"partitionName" key:"1" max:"127" syntax:"name" help:"Name of the partition"`
	MaxBandwidth  uint32 `cli:"maxBandwidth" def:"10240" unit:"kbit/s" help:"Most traffic"`
	MinBandwidth  uint32 `cli:"minBandwidth" def:"10240" unit:"kbit/s" help:"Traffic that it has for sure"`
	MaxConn       uint32 `cli:"maxConn" def:"1024" help:"Most connections"`
	MaxMemLimit   uint32 `cli:"maxMemLimit" def:"10" unit:"MB" help:"Most memory"`
	PartitionMAC  string `cli:"partitionMAC" max:"255" syntax:"mac" help:"MAC address of its own"`
}

// NSPartitionVLAN is a VLAN of a partition.
type NSPartitionVLAN struct {
	PartitionName string `cli:"partitionName" key:"1" max:"127" ref:"ns-partition" syntax:"name" help:"Name of the partition"`
	VLAN          uint16 `cli:"vlan" key:"2" keyword:"yes" min:"1" max:"4094" help:"VLAN"`
}

// NSPartitionVXLAN is a VXLAN of a partition.
type NSPartitionVXLAN struct {
	PartitionName string `cli:"partitionName" key:"1" max:"127" ref:"ns-partition" syntax:"name" help:"Name of the partition"`
	VXLAN         uint32 `cli:"vxlan" key:"2" keyword:"yes" min:"1" max:"16777215" help:"VXLAN identifier"`
}

// NSPartitionBridgeGroup is a bridge group of a partition.
type NSPartitionBridgeGroup struct {
	PartitionName string `cli:"partitionName" key:"1" max:"127" ref:"ns-partition" syntax:"name" help:"Name of the partition"`
	Bridgegroup   uint16 `cli:"bridgegroup" key:"2" keyword:"yes" min:"1" max:"1000" help:"Number of the group"`
}

func init() {
	stored[NSPartition]("ns partition", "ns-partition", "add set unset rm show", "Partition of the appliance")
	stored[NSPartitionVLAN]("ns partition", "ns-partition-vlan", "bind unbind", "VLAN of a partition")
	stored[NSPartitionVXLAN]("ns partition", "ns-partition-vxlan", "bind unbind", "VXLAN of a partition")
	stored[NSPartitionBridgeGroup]("ns partition", "ns-partition-bridgegroup", "bind unbind", "Bridge group of a partition")
}
