package orders

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// sandbox is Herald with a broker and a backend, until the test ends.
type sandbox struct {
	BootstrapServers string
	BackendURL       string
	Topics           struct{ Requests []string }
}

func startSandbox(t *testing.T) sandbox {
	command := exec.Command("herald", "sandbox", "-o", "json", "--retry-delays", "100ms,200ms")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It ends when its standard input does: also when this process is killed.
		input.Close()
		command.Wait()
	})
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var herald sandbox
	if err := json.Unmarshal(line, &herald); err != nil {
		t.Fatal(err)
	}
	return herald
}

func (herald sandbox) ask(t *testing.T, method, path, body string) string {
	request, err := http.NewRequest(method, herald.BackendURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	// The backend's password of every user is the user's name.
	request.SetBasicAuth("test", "test")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type call struct {
	Status  int
	Message string
}

func (herald sandbox) waitForCalls(t *testing.T, count int) []call {
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var calls []call
		decoder := json.NewDecoder(strings.NewReader(herald.ask(t, "GET", "/sandbox/calls", "")))
		for decoder.More() {
			var one call
			if err := decoder.Decode(&one); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, one)
		}
		if len(calls) >= count {
			return calls
		}
		if time.Now().After(end) {
			t.Fatalf("%d calls, not %d", len(calls), count)
		}
	}
}

func TestAShippedOrderIsToldAlsoWhenTheBackendFailsOnce(t *testing.T) {
	herald := startSandbox(t)
	herald.ask(t, "PUT", "/sandbox/misbehaviour", `[{"user":"ann","status":503,"calls":1}]`)
	// In place of this: what your service does when an order is shipped.
	producer, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers": herald.BootstrapServers, "partitioner": "murmur2_random"})
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	delivery := make(chan kafka.Event, 1)
	err = producer.Produce(&kafka.Message{
		TopicPartition: kafka.TopicPartition{Topic: &herald.Topics.Requests[0], Partition: kafka.PartitionAny},
		Key:            []byte("ann"),
		Value:          []byte(`{"id":"order-17","user":"ann","pns":["apns"],"message":"Your parcel is here"}`),
	}, delivery)
	if err != nil {
		t.Fatal(err)
	}
	if report := (<-delivery).(*kafka.Message); report.TopicPartition.Error != nil {
		t.Fatal(report.TopicPartition.Error)
	}

	calls := herald.waitForCalls(t, 2)
	if calls[0].Status != 503 || calls[1].Status != 200 {
		t.Errorf("statuses %v", calls)
	}
	if calls[1].Message != "Your parcel is here" {
		t.Errorf("the user reads %q", calls[1].Message)
	}
}
