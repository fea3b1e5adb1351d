package packet

func parseCareful(p *Packet, x *Index) {}
