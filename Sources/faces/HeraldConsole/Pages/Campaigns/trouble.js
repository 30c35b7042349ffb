// What the verdict has to do with a campaign.

const ofServices = (key) => key?.startsWith('push-service-failing');

const all = (verdict) => [verdict, ...verdict?.others ?? []];

/** The outage of which it is not known whether it goes on: nothing waits because of it for certain; undefined without one. */
export const doubtful = (verdict) => all(verdict).find((finding) => finding?.state === 'warn' && finding.key?.startsWith('outage-'));

/**
 * The finding because of which notifications of a campaign wait; null when none concerns it. `services` are its push
 * services that wait, where they are not all.
 */
export function concerning(verdict, { pns = [], open, perSecond }) {
  const bad = all(verdict).filter((finding) => finding?.state === 'bad');
  for (const { key, headline, where = [] } of open > 0 ? bad : []) {
    if (ofServices(key)) {
      const services = pns.filter((name) => where.includes(name));
      if (services.length > 0) return services.length < pns.length ? { headline, services } : { headline };
    } else if (where.length === 0 || !(perSecond > 0)) {
      // What concerns a partition, a topic or a broker may leave this one alone.
      return { headline };
    }
  }
  return null;
}
