package compile

import "testing"

// TestSlowStart: the rate and interval of slow start reach the dataplane.
func TestSlowStart(t *testing.T) {
	for text, want := range map[string][3]uint32{
		"": {}, "-newServiceRequest 7": {7, 0, 0},
		"-newServiceRequest 7 PER_SECOND -newServiceRequestIncrementInterval 3600": {7, 3600, 0},
		"-newServiceRequest 7 PERCENT":                                             {7, 0, 1},
	} {
		c := configure(t, "add lb vserver v TCP 10.1.0.50 80 "+text)
		tab, err := Tables(c, site(c))
		if err != nil {
			t.Fatal(err)
		}
		if v := tab.Config.Vservers[0]; v.SlowRate != want[0] || v.SlowSeconds != want[1] || v.SlowPercent != (want[2] != 0) {
			t.Errorf("%q: %d after each %d s, want %v", text, v.SlowRate, v.SlowSeconds, want)
		}
	}
}
