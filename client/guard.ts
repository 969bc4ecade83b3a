import { vouchedFor } from '../domain/access/approvals';
import type { AccessDecision } from '../domain/access/decide';
import { protecting } from '../domain/access/protection';
import type { Door, OperationName } from '../domain/access/operations';
import type { PlatformFacts } from '../domain/access/platform';
import { deployedAsGiven, unsigned, wantsSigned } from '../domain/access/signed';
import type { Artifact } from '../domain/artifact';
import { conveyorError } from '../domain/errors';
import { parseId, releaseId, type Id } from '../domain/ids';
import { REQUEST_LIMITS } from '../domain/limits';
import { isByAdmin, isGroup } from '../domain/principals';
import { cutText } from '../domain/size';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { Trigger } from '../domain/views';
import { decideApply, decideBug, decideVerb } from './about';
import type { ConveyorClient } from './api';

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

/** Receives the rule by which an operation is let through. */
export type Decided = (rule: string) => void;

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

/** By which rule; missing without a platform section, where workflows ask owners themselves. */
interface Permit {
  readonly permitted?: string;
  readonly vouched?: readonly string[];
}

/** Whatever whoever asks says about rules counts for nothing. */
function under<T extends Permit>(given: T, permit: Permit): Omit<T, keyof Permit> & Permit {
  const { permitted: _permitted, vouched: _vouched, ...rest } = given;
  return { ...rest, ...permit };
}

class PermissionGate {
  constructor(
    private readonly client: ConveyorClient,
    private readonly platform: () => PlatformFacts,
    private readonly door: Door,
    private readonly decided: Decided,
  ) {}

  async to(
    verb: OperationName,
    id: Id,
    actor: string | null,
    more: { readonly approves?: boolean; readonly skipBake?: boolean } = {},
  ): Promise<Permit> {
    const facts = this.platform();
    const asked = { actor, verb, id };
    // What is brought to a pipeline is often brought by finders, so that its workflow asks for no owner.
    if (facts.policy === null && verb !== 'submit') return withoutSection(asked);
    const who = { principal: actor, door: this.door };
    const permit = permitFrom(await decideVerb(this.client, facts, { who, verb, id, ...more }), asked);
    if (facts.policy === null) return {};
    const vouched = verb === 'pick' ? vouchedFor(facts, id.pipeline) : [];
    return this.noteDecision(vouched.length > 0 ? { ...permit, vouched } : permit);
  }

  /**
   * What would be refused hours later, at its deploy, is refused now; the workers have the last word.
   * @throws ConveyorError `unsigned`
   */
  async requireSigned(pipeline: string, artifacts: readonly Artifact[]): Promise<void> {
    const facts = this.platform();
    if (!wantsSigned(facts, pipeline)) return;
    const lacking = unsigned(facts, pipeline, deployedAsGiven(await this.client.spec(pipeline), artifacts));
    if (lacking !== undefined) throw lacking;
  }

  /** @throws ConveyorError `not-permitted` */
  toBugs(verb: 'report-bug' | 'close-bug', actor: string): void {
    const decision = decideBug(this.platform(), { principal: actor, door: this.door }, verb);
    if (decision.allowed) return void this.noteDecision(permitted(decision));
    throw conveyorError('not-permitted', { actor, pipeline: 'bugs', why: decision.why, can: `${actor} ${verb}` });
  }

  async toApply(verb: 'apply' | 'import', spec: PipelineSpec, actor: string): Promise<string | undefined> {
    const facts = this.platform();
    const asked = { actor, verb, id: { kind: 'pipeline', pipeline: spec.pipeline } } as const;
    if (facts.policy === null) return withoutSection(asked).permitted;
    const who = { principal: actor, door: this.door };
    const decision = await decideApply(this.client, facts, { who, verb, spec });
    return this.noteDecision(permitFrom(decision, { ...asked, verb: decision.verb })).permitted;
  }

  /** Other kinds are not a person's to start, and are asked of no owner. */
  toRelease(pipeline: string, { kind, actor }: Trigger): Promise<Permit> {
    if (kind === 'manual' || kind === 'api') return this.to('release', { kind: 'pipeline', pipeline }, actor);
    return Promise.reject(
      notPermittedError(`nobody starts a release of kind ${kind} by hand`, {
        actor,
        verb: 'release',
        id: { kind: 'pipeline', pipeline },
      }),
    );
  }

  /** A delivery concerns many pipelines: they are asked only where a rule protects them. */
  async toSubmit(pipeline: string, { actor }: Trigger): Promise<Permit> {
    const { policy } = this.platform();
    if (this.door === 'webhook' && !isGroup(actor) && (policy === null || protecting(policy, pipeline).length === 0)) {
      this.decided('its delivery');
      return {};
    }
    return this.to('submit', { kind: 'pipeline', pipeline }, actor);
  }

  private noteDecision(permit: Permit): Permit {
    if (permit.permitted !== undefined) this.decided(permit.permitted);
    return permit;
  }
}

interface PermissionRequest {
  readonly actor: string | null;
  readonly verb: OperationName;
  readonly id: Id;
}

function withoutSection(asked: PermissionRequest): Permit {
  if (asked.actor === null || !isGroup(asked.actor)) return {};
  throw notPermittedError(`${asked.actor} is a group, which never acts: come as one of its members`, asked);
}

function permitFrom(decision: AccessDecision, asked: PermissionRequest): Permit {
  if (!decision.allowed) throw notPermittedError(decision.why, asked);
  return permitted(decision);
}

const permitted = ({ by, through }: Extract<AccessDecision, { allowed: true }>): Permit => ({
  permitted: cutText(through === null ? by : `${by} through ${through}`, REQUEST_LIMITS.actor.max),
});

function notPermittedError(why: string, { actor, verb, id }: PermissionRequest) {
  const who = actor ?? 'nobody';
  return conveyorError('not-permitted', {
    actor: who,
    pipeline: id.pipeline,
    why,
    can: `${who} ${verb} ${idText(id)}`,
  });
}

function idText(id: Id): string {
  if (id.kind === 'pipeline') return id.pipeline;
  const release = releaseId(id.pipeline, id.number);
  return id.kind === 'release' ? release : `${release}/${id.action}`;
}
