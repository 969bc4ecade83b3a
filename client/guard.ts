import type { Door, OperationName } from '../domain/access/operations';
import type { PlatformFacts } from '../domain/access/platform';
import { parseId, type Id } from '../domain/ids';
import { isByAdmin } from '../domain/principals';
import type { ConveyorClient } from './api';
import { PermissionGate, type Decided, type Permit } from './permissionGate';

/** What each operation of a client is decided as; commands are decided by their verb. One that is new does not compile until it is here. */
export const DECIDED_AS: Readonly<Record<keyof ConveyorClient, OperationName | 'the verb' | 'nothing'>> = {
  apply: 'apply',
  importPipeline: 'import',
  release: 'release',
  submit: 'submit',
  push: 'push',
  rerun: 'rerun',
  reportBug: 'report-bug',
  closeBug: 'close-bug',
  listBugs: 'read',
  command: 'the verb',
  lookNow: 'look-now',
  exportPipeline: 'read',
  spec: 'read',
  status: 'read',
  listPipelines: 'read',
  listReleases: 'read',
  listDeploys: 'read',
  listFinders: 'read',
  freshness: 'read',
  history: 'read',
  logs: 'read',
  readiness: 'read',
  close: 'nothing',
};

/**
 * A client that asks, before each operation, whether its actor may, by the configuration as it is at that moment. The door has to know
 * that the actor is who they say. What is let through says by which rule, so that workflows need not know the groups.
 * Every operation also throws `not-permitted`, with the rule that would allow it, and what brings artifacts `unsigned`.
 */
export function guardClient(
  client: ConveyorClient,
  platform: () => PlatformFacts,
  door: Door,
  decided: Decided = () => undefined,
): ConveyorClient {
  const gate = new PermissionGate(client, platform, door, decided);
  return {
    ...reads(client),
    apply: async (spec, actor) => client.apply(spec, actor, await gate.toApply('apply', spec, actor)),
    importPipeline: async (document, actor) =>
      client.importPipeline(document, actor, await gate.toApply('import', document.spec, actor)),
    release: async (pipeline, artifacts, trigger) => {
      const by = await gate.toRelease(pipeline, trigger);
      await gate.requireSigned(pipeline, artifacts);
      return client.release(pipeline, artifacts, under(trigger, by));
    },
    submit: async (pipeline, artifacts, trigger) => {
      const by = await gate.toSubmit(pipeline, trigger);
      await gate.requireSigned(pipeline, artifacts);
      return client.submit(pipeline, artifacts, under(trigger, by));
    },
    push: async (pipeline, action, artifacts, push) => {
      const { skipBake = false, actor } = push;
      const by = await gate.to('push', { kind: 'pipeline', pipeline }, actor, { skipBake });
      if (!isByAdmin(by)) await gate.requireSigned(pipeline, artifacts);
      return client.push(pipeline, action, artifacts, under(push, by));
    },
    rerun: async (pipeline, number, rerun) => {
      const by = await gate.to('rerun', { kind: 'release', pipeline, number }, rerun.actor);
      return client.rerun(pipeline, number, under(rerun, by));
    },
    reportBug: async (report, actor) => {
      gate.toBugs('report-bug', actor);
      return client.reportBug(report, actor);
    },
    closeBug: async (close, actor) => {
      gate.toBugs('close-bug', actor);
      return client.closeBug(close, actor);
    },
    command: async (text, verb, input) => {
      const id = commanded(text, input.action);
      // What is no id at all is refused below, in words about ids.
      if (id === undefined) return client.command(text, verb, input);
      const by = await gate.to(verb, id, input.actor ?? null, { approves: input.approve === true });
      return client.command(text, verb, under(input, by));
    },
  };
}

type ReadOperations = Omit<
  ConveyorClient,
  'apply' | 'importPipeline' | 'release' | 'submit' | 'push' | 'rerun' | 'reportBug' | 'closeBug' | 'command'
>;

/** What changes nothing, as it is. */
export const reads = (client: ConveyorClient): ReadOperations => ({
  exportPipeline: (pipeline) => client.exportPipeline(pipeline),
  spec: (pipeline) => client.spec(pipeline),
  status: (id) => client.status(id),
  listPipelines: (query) => client.listPipelines(query),
  listReleases: (query) => client.listReleases(query),
  listDeploys: (query) => client.listDeploys(query),
  listFinders: () => client.listFinders(),
  freshness: () => client.freshness(),
  listBugs: () => client.listBugs(),
  history: (pipeline) => client.history(pipeline),
  logs: (id, attempt) => client.logs(id, attempt),
  lookNow: (runId) => client.lookNow(runId),
  readiness: () => client.readiness(),
  close: () => client.close(),
});

/** `pick kvstore/12` with an action is about that action. */
function commanded(text: string, action: string | undefined): Id | undefined {
  const id = parseId(text);
  return id?.kind === 'release' && action !== undefined ? { ...id, kind: 'action', action } : id;
}

/** Whatever whoever asks says about rules counts for nothing. */
function under<T extends Permit>(given: T, permit: Permit): Omit<T, keyof Permit> & Permit {
  const { permitted: _permitted, vouched: _vouched, ...rest } = given;
  return { ...rest, ...permit };
}
