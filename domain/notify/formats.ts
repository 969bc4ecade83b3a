import { cloudEvents } from './cloudEvents';
import { githubStatus, gitlab } from './commitStatus';
import { datadog } from './datadog';
import { email } from './email';
import type { Format } from './format';
import { grafana } from './grafana';
import { opsgenie } from './opsgenie';
import { pagerDuty } from './pagerDuty';
import { slack } from './slack';
import { slackApp } from './slackApp';
import { teams } from './teams';

/** Each format is in a file of this folder with a row here; the name is the `format` of a pipeline file or of a receiver of the settings. */
const FORMATS = {
  cloudevents: cloudEvents,
  slack,
  'slack-app': slackApp,
  teams,
  pagerduty: pagerDuty,
  opsgenie,
  github: githubStatus,
  gitlab,
  grafana,
  datadog,
  email,
} satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as [FormatName, ...FormatName[]];

/** The formats of services without keys, which a pipeline file may name. */
export const KEYLESS_FORMATS = ['cloudevents', 'slack', 'teams'] as const satisfies readonly FormatName[];

/**
 * The format for a receiver: the one that the pipeline file names, else the one of its host, else CloudEvents.
 * Undefined if the name is newer than this worker.
 */
export function formatFor(host: string, name?: string): Format | undefined {
  if (name !== undefined) return findFormat(name);
  return Object.values<Format>(FORMATS).find(({ hosts }) => hosts?.test(host)) ?? cloudEvents;
}

/** The format of a name; undefined for none, and for a name that is newer than this process. */
export const findFormat = (name: string | undefined): Format | undefined =>
  name !== undefined && Object.hasOwn(FORMATS, name) ? FORMATS[name as FormatName] : undefined;
