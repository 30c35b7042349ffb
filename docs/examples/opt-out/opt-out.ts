// Says what a user does not want: node opt-out.ts BOOTSTRAP_SERVERS USER [ENTRY…], such as promotional pns:apns
// All types are inferred, so that every Node runs it as it is, by the name opt-out.mjs; since 22.18 as opt-out.ts, too.
import { Kafka, Partitioners, logLevel } from "kafkajs";

const [servers, user, ...entries] = process.argv.slice(2);
const preferences = process.env.PREFERENCES_TOPIC ?? "notifications.preferences";

const word = {
    optOut: entries, // the whole word: what is missing is wanted, and [] wants everything
    updatedAt: new Date().toISOString(),
    by: "opt-out.ts",
};
const kafka = new Kafka({ brokers: servers.split(","), logLevel: logLevel.ERROR });
// Idempotent producers wait for all copies, and keep a user's changes in their order.
const producer = kafka.producer({ idempotent: true, createPartitioner: Partitioners.DefaultPartitioner });
await producer.connect();
await producer.send({ topic: preferences, acks: -1, messages: [{ key: user, value: JSON.stringify(word) }] });
await producer.disconnect();
