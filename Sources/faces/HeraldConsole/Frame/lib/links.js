// Links to other tools: traces and alerts, if the settings have their addresses.

/** The address with a placeholder replaced by a value; null without an address or a value. */
export function filled(template, name, value) {
  return template && value ? template.replaceAll(name, encodeURIComponent(value)) : null;
}

/** The address of an event's trace; null when it is not known. */
export const traceLink = (app, trace) => filled(app.viewer?.links?.traces, '{traceId}', trace);

/** The address of an alert; null when it is not known. */
export const alertLink = (app, alert) => filled(app.viewer?.links?.alerts, '{alert}', alert);
