// Publishes one event and waits for its results: go run . BOOTSTRAP_SERVERS USER MESSAGE
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type event struct {
	ID      string   `json:"id"`
	User    string   `json:"user"`
	Message string   `json:"message"`
	Title   string   `json:"title,omitempty"`
	Link    string   `json:"link,omitempty"` // where a tap leads
	Image   string   `json:"image,omitempty"`
	PNS     []string `json:"pns"`
	Source  string   `json:"source"`
}

type result struct {
	ID           string   `json:"id"`
	PNS          string   `json:"pns"`
	RequestedPNS []string `json:"requestedPns"`
	Outcome      string   `json:"outcome"`
}

func setting(name, standard string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return standard
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()

	// Idempotent, waiting for all copies, and partitioning keys as Java's clients do, without saying so. It reads the
	// results from a minute ago on, in no group: what is published from here on cannot end before that.
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Args[1], ",")...),
		kgo.ConsumeTopics(setting("RESULTS_TOPIC", "notifications.results")),
		kgo.ConsumeResetOffset(kgo.NewOffset().AfterMilli(time.Now().Add(-time.Minute).UnixMilli())),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		log.Fatal(err)
	}
	// The id is yours, and the same one when you publish the same thing again.
	published := event{
		ID: hex.EncodeToString(id), User: os.Args[2], Message: os.Args[3], Title: "Your parcel",
		Link: "https://shop.example/orders/17", Image: "https://cdn.example/parcel.png",
		PNS: []string{"apns", "fcm"}, Source: "publish.go",
	}
	value, err := json.Marshal(published)
	if err != nil {
		log.Fatal(err)
	}
	record := &kgo.Record{
		Topic: setting("REQUESTS_TOPIC", "notifications"), Key: []byte(published.User), Value: value,
	}
	if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
		log.Fatal(err)
	}

	missing := map[string]bool{}
	for _, service := range published.PNS {
		missing[service] = true
	}
	delivered := true
	for len(missing) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			log.Fatal(err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			var found result
			if json.Unmarshal(record.Value, &found) != nil || found.ID != published.ID {
				return // somebody else's
			}
			fmt.Println(string(record.Value))
			// A result without "pns" is one for the whole event, which broke a rule.
			if found.PNS == "" {
				missing = nil
			}
			delete(missing, found.PNS)
			// Your own names, when "pns" is another one: workers call fcm gcm.
			for _, name := range found.RequestedPNS {
				delete(missing, name)
			}
			delivered = delivered && found.Outcome == "delivered"
		})
	}
	if !delivered {
		os.Exit(1)
	}
}
