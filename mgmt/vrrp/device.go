package vrrp

// fit opens and closes links so that they are those of the devices that the intents name and that carry frames.
func (s *Speaker) fit(intents map[key]Intent) {
	devices := map[string]bool{}
	for k := range intents {
		devices[k.device] = true
	}
	for name, l := range s.links {
		if !devices[name] {
			s.drop(name, l)
		}
	}
	for name := range s.failed {
		if !devices[name] {
			delete(s.failed, name)
		}
	}
	for name := range devices {
		s.attach(name)
	}
}

// look looks at each device, and tells whether one came or went.
func (s *Speaker) look() (moved bool) {
	seen := map[string]bool{}
	for k := range s.routers {
		if !seen[k.device] {
			seen[k.device] = true
			moved = s.attach(k.device) || moved
		}
	}
	return moved
}

// attach has the link of a device be as the device is: there, gone, or another one of the same name.
func (s *Speaker) attach(device string) (moved bool) {
	index, carries := look(s.socket, device)
	l := s.links[device]
	if l != nil && (!carries || l.index != index) {
		s.drop(device, l)
		l, moved = nil, true
	}
	if l != nil || !carries {
		return moved
	}
	l, err := openLink(device, index, func(frame []byte) { s.take(device, frame) })
	if err != nil {
		if !s.failed[device] {
			s.options.Log.Error("a device for VRRP could not be opened; trying again", "error", err)
		}
		s.failed[device] = true
		return moved
	}
	delete(s.failed, device)
	s.links[device] = l
	return true
}

func (s *Speaker) drop(device string, l *link) {
	delete(s.links, device)
	s.shut(l)
}

// shut closes a link. Its reader may be waiting for the loop, which this is: what it brings then is let go.
func (s *Speaker) shut(l *link) {
	go l.close()
}

// take is called by a link's reader. What can be refused without knowing the routers does not reach the loop.
func (s *Speaker) take(device string, frame []byte) {
	h, why := read(frame)
	if why != "" {
		s.refuse(device, &h, why)
		return
	}
	select {
	case s.arrivals <- arrival{device, h}:
	case <-s.closing:
	}
}
