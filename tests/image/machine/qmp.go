package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"
)

// Tell gives a command to the machine's monitor (QMP), on a connection of its own, and returns what it answers.
func (m *Machine) Tell(command string, arguments map[string]any) (json.RawMessage, error) {
	conn, err := net.DialTimeout("unix", filepath.Join(m.dir, "qmp.sock"), 10*time.Second)
	if err != nil {
		return nil, fmt.Errorf("the machine's monitor does not answer: %w", err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(60 * time.Second))
	in := json.NewDecoder(conn)
	var greeting struct{ QMP json.RawMessage }
	if err := in.Decode(&greeting); err != nil {
		return nil, fmt.Errorf("the machine's monitor does not greet: %w", err)
	}
	if greeting.QMP == nil {
		return nil, errors.New("what answers is not a machine's monitor")
	}
	if _, err := execute(conn, in, "qmp_capabilities", nil); err != nil {
		return nil, err
	}
	return execute(conn, in, command, arguments)
}

func execute(conn net.Conn, in *json.Decoder, command string, arguments map[string]any) (json.RawMessage, error) {
	order := map[string]any{"execute": command}
	if arguments != nil {
		order["arguments"] = arguments
	}
	if err := json.NewEncoder(conn).Encode(order); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	for {
		var answer struct {
			Return json.RawMessage `json:"return"`
			Event  string          `json:"event"`
			Error  *struct {
				Desc string `json:"desc"`
			} `json:"error"`
		}
		if err := in.Decode(&answer); err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		switch {
		case answer.Error != nil:
			return nil, fmt.Errorf("%s: %s", command, answer.Error.Desc)
		case answer.Event == "":
			return answer.Return, nil
		}
	}
}
