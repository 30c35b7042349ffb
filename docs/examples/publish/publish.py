"""Publishes one event and waits for its results: python3 publish.py BOOTSTRAP_SERVERS USER MESSAGE"""

import json
import os
import sys
import time
import uuid

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

servers, user, message = sys.argv[1:]
requests = os.environ.get("REQUESTS_TOPIC", "notifications")
results = os.environ.get("RESULTS_TOPIC", "notifications.results")

# Where the results end now: what is published from here on can only end behind that.
consumer = Consumer({
    "bootstrap.servers": servers,
    "group.id": "publish-example",  # the client wants one; without subscribe() no group is joined
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
})
metadata = consumer.list_topics(results, timeout=10).topics[results]
partitions = [TopicPartition(results, number) for number in metadata.partitions]
for partition in partitions:
    partition.offset = consumer.get_watermark_offsets(partition, timeout=10)[1]
consumer.assign(partitions)

event = {
    "id": str(uuid.uuid4()),  # yours, and the same one when you publish the same thing again
    "user": user,
    "message": message,
    "title": "Your parcel",
    "link": "https://shop.example/orders/17",  # where a tap leads
    "image": "https://cdn.example/parcel.png",
    "pns": ["apns", "fcm"],
    "source": "publish.py",
}
producer = Producer({
    "bootstrap.servers": servers,
    "enable.idempotence": True,  # brings acks=all along
    "partitioner": "murmur2_random",  # librdkafka's own default puts the same user elsewhere
})
failures = []
producer.produce(
    requests, key=event["user"], value=json.dumps(event),
    on_delivery=lambda error, record: failures.append(error) if error else None)
producer.flush(30)
if failures or len(producer):
    sys.exit(f"not published: {failures}")

missing = set(event["pns"])
delivered = True
deadline = time.monotonic() + 60
while missing and time.monotonic() < deadline:
    record = consumer.poll(1)
    if record is None:
        continue
    if record.error():
        raise KafkaException(record.error())
    result = json.loads(record.value())
    if result.get("id") != event["id"]:
        continue  # somebody else's
    print(json.dumps(result))
    # A result without "pns" is one for the whole event, which broke a rule.
    # "requestedPns" has your own names when "pns" is another one: workers call fcm gcm.
    missing -= set(result.get("requestedPns", [result["pns"]])) if "pns" in result else set(missing)
    delivered = delivered and result["outcome"] == "delivered"
consumer.close()
sys.exit(0 if delivered and not missing else 1)
