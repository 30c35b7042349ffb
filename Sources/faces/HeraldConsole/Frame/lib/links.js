// Links to what others show: traces and alerts, where the settings say where that is.

/** The address with a value in a name's place; null without an address or a value. */
export function filled(template, name, value) {
  return template && value ? template.replaceAll(name, encodeURIComponent(value)) : null;
}

/** Where an event's trace is shown; null when that is not known. */
export const traceLink = (app, trace) => filled(app.viewer?.links?.traces, '{traceId}', trace);

/** Where an alert is shown; null when that is not known. */
export const alertLink = (app, alert) => filled(app.viewer?.links?.alerts, '{alert}', alert);
