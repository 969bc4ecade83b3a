import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Recorded histories, as `temporal workflow show -o json` prints them too. */
export const HISTORIES = join(__dirname, '..', 'fixtures', 'histories');

export interface Recorded {
  readonly events: readonly Event[];
}

interface Event {
  readonly eventType: string;
  readonly workflowExecutionStartedEventAttributes?: {
    readonly workflowId: string;
    readonly workflowType: { name: string };
  };
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { name: string } };
}

export const files = (): string[] => readdirSync(HISTORIES).filter((file) => file.endsWith('.json'));

export const read = (file: string): Recorded => JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as Recorded;

/** The type under which the workflow was started. */
export function startOf({ events }: Recorded): { workflowId: string; type: string } {
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  if (started === undefined) throw new Error('a history begins with its start');
  return { workflowId: started.workflowId, type: started.workflowType.name };
}

/** A history without what is only true of the machine that it was recorded on; it replays as before. */
export function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value !== 'object' || value === null) return value;
  const sticky = (value as { kind?: unknown }).kind === 'TASK_QUEUE_KIND_STICKY';
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === 'identity') return [key, 'conveyor'];
      if (key === 'stackTrace') return [key, ''];
      return [key, sticky && key === 'name' ? 'sticky' : withoutMachine(inner)];
    }),
  );
}

/** The tests report what a replay finds, not its worker. Call it before the first replay. */
export const silenceWorkers = (): void =>
  void Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
  });
