import type { Client } from '@temporalio/client';
import type { CallPorts } from '../activities/pushCalls';
import type { Artifact } from '../domain/artifact';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import type { BugLook } from '../domain/release/bugNotice';
import { createBugActivities } from '../features/bugs/activities/bugs';
import { lookForBugs } from '../features/bugs/activities/lookForBugs';
import { createTicketActivities } from '../features/freshness/activities/tickets';
import { ensureDailyTickets } from '../features/freshness/client/schedule';
import type { Registry } from '../settings/registry';

/** The features that a worker runs, in addition to the core. */

export type FeaturePorts = CallPorts & { readonly client: Client; readonly index: PipelineIndex };

export const featureActivities = (ports: FeaturePorts): object => ({
  ...createBugActivities(ports),
  ...createTicketActivities(ports),
});

const BUG_LOOKS: readonly ((ports: FeaturePorts, artifacts: readonly Artifact[]) => Promise<BugLook>)[] = [lookForBugs];

/** The bugs in some artifacts, before they are deployed. @throws while it is unknown */
export const lookForKnownBugs = async (ports: FeaturePorts, artifacts: readonly Artifact[]): Promise<BugLook> =>
  Object.assign({}, ...(await Promise.all(BUG_LOOKS.map((look) => look(ports, artifacts))))) as BugLook;

const SCHEDULES: readonly ((client: Client, registry: Registry, taskQueue: string) => Promise<void>)[] = [
  ensureDailyTickets,
];

/** Creates or updates the Temporal Schedules of features. */
export const ensureSchedules = async (client: Client, registry: Registry, taskQueue: string): Promise<void> =>
  void (await Promise.all(SCHEDULES.map((ensure) => ensure(client, registry, taskQueue))));
