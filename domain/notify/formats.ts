import { cloudEvents } from './cloudEvents';
import type { Format } from './format';
import { slack } from './slack';

/** Each format is one file in this folder with a row here; the name is the `format` of a pipeline file. */
const FORMATS = { cloudevents: cloudEvents, slack } satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as [FormatName, ...FormatName[]];

/**
 * The format for a receiver: the one that the pipeline file names, else the one of its host, else CloudEvents.
 * Undefined if the name is newer than this worker.
 */
export function formatFor(host: string, name?: string): Format | undefined {
  const known: Readonly<Record<string, Format>> = FORMATS;
  if (name !== undefined) return Object.hasOwn(known, name) ? known[name] : undefined;
  return Object.values(known).find(({ hosts }) => hosts?.test(host)) ?? cloudEvents;
}
