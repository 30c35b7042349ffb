"""Says what a user does not want: python3 opt_out.py BOOTSTRAP_SERVERS USER [ENTRY…], such as promotional pns:apns"""

import datetime
import json
import os
import sys

from confluent_kafka import Producer

servers, user, *entries = sys.argv[1:]
preferences = os.environ.get("PREFERENCES_TOPIC", "notifications.preferences")

word = {
    "optOut": entries,  # the whole word: what is missing is wanted, and [] wants everything
    "updatedAt": datetime.datetime.now(datetime.timezone.utc).isoformat(),
    "by": "opt_out.py",
}
producer = Producer({
    "bootstrap.servers": servers,
    "enable.idempotence": True,  # brings acks=all along, and keeps a user's changes in their order
    "partitioner": "murmur2_random",
})
failures = []
producer.produce(
    preferences, key=user, value=json.dumps(word),
    on_delivery=lambda error, record: failures.append(error) if error else None)
producer.flush(30)
if failures or len(producer):
    sys.exit(f"not written: {failures}")
