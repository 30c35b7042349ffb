// Says what a user does not want: go run . BOOTSTRAP_SERVERS USER [ENTRY…], such as promotional pns:apns
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type word struct {
	// The whole word: what is missing is wanted, and an empty list wants everything.
	OptOut    []string  `json:"optOut"`
	UpdatedAt time.Time `json:"updatedAt"`
	By        string    `json:"by"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	topic := os.Getenv("PREFERENCES_TOPIC")
	if topic == "" {
		topic = "notifications.preferences"
	}
	// Idempotent, and waiting for all copies, without saying so.
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(os.Args[1], ",")...))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// Never null: that is no list of entries.
	entries := append([]string{}, os.Args[3:]...)
	value, err := json.Marshal(word{OptOut: entries, UpdatedAt: time.Now().UTC(), By: "opt-out.go"})
	if err != nil {
		log.Fatal(err)
	}
	record := &kgo.Record{Topic: topic, Key: []byte(os.Args[2]), Value: value}
	if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
		log.Fatal(err)
	}
}
