import { pickApproverGroups } from '../domain/access/approvals';
import type { AccessDecision } from '../domain/access/decide';
import { findProtectingRules } from '../domain/access/protection';
import type { Door, OperationName } from '../domain/access/operations';
import type { PlatformFacts } from '../domain/access/platform';
import { pickDeployedInputs, findUnsigned, wantsSigned } from '../domain/access/signatureRule';
import type { Artifact } from '../domain/artifact';
import { conveyorError } from '../domain/errors';
import { releaseId, type Id } from '../domain/ids';
import { REQUEST_LIMITS } from '../domain/limits';
import { isGroup } from '../domain/principals';
import { cutText } from '../domain/size';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { Trigger } from '../domain/views';
import { decideApply, decideBug, decideVerb } from './about';
import type { ConveyorClient } from './api';

/** Receives the rule that permits an operation. */
export type PermitListener = (rule: string) => void;

/** The permitting rule; missing without a platform section, when workflows check owners themselves. */
export interface Permit {
  readonly permitted?: string;
  readonly vouched?: readonly string[];
}

export class PermissionGate {
  constructor(
    private readonly client: ConveyorClient,
    private readonly platform: () => PlatformFacts,
    private readonly door: Door,
    private readonly decided: PermitListener,
  ) {}

  async to(
    verb: OperationName,
    id: Id,
    actor: string | null,
    more: { readonly approves?: boolean; readonly skipBake?: boolean } = {},
  ): Promise<Permit> {
    const facts = this.platform();
    const asked = { actor, verb, id };
    // Artifacts are often submitted by finders, so a pipeline's workflow does not require an owner.
    if (facts.policy === null && verb !== 'submit') return withoutSection(asked);
    const who = { principal: actor, door: this.door };
    const permit = permitFrom(await decideVerb(this.client, facts, { who, verb, id, ...more }), asked);
    if (facts.policy === null) return {};
    const vouched = verb === 'pick' ? pickApproverGroups(facts, id.pipeline) : [];
    return this.noteDecision(vouched.length > 0 ? { ...permit, vouched } : permit);
  }

  /**
   * Refuses now a deploy that would be refused hours later; the workers decide finally.
   * @throws ConveyorError `unsigned`
   */
  async requireSigned(pipeline: string, artifacts: readonly Artifact[]): Promise<void> {
    const facts = this.platform();
    if (!wantsSigned(facts, { pipeline })) return;
    const lacking = findUnsigned(facts, { pipeline }, pickDeployedInputs(await this.client.spec(pipeline), artifacts));
    if (lacking !== undefined) throw lacking;
  }

  /** @throws ConveyorError `not-permitted` */
  toBugs(verb: 'report-bug' | 'close-bug', actor: string): void {
    const decision = decideBug(this.platform(), { principal: actor, door: this.door }, verb);
    if (decision.allowed) return void this.noteDecision(toPermit(decision));
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

  /** People cannot start other kinds, which need no owner. */
  toRelease(pipeline: string, { kind, actor }: Trigger): Promise<Permit> {
    if (kind === 'manual' || kind === 'api') return this.to('release', { kind: 'pipeline', pipeline }, actor);
    return Promise.reject(
      notPermittedError(`a release of kind ${kind} cannot be started by hand`, {
        actor,
        verb: 'release',
        id: { kind: 'pipeline', pipeline },
      }),
    );
  }

  /** A delivery concerns many pipelines, so each is asked only if a rule protects it. */
  async toSubmit(pipeline: string, { actor }: Trigger): Promise<Permit> {
    const { policy } = this.platform();
    if (
      this.door === 'webhook' &&
      !isGroup(actor) &&
      (policy === null || findProtectingRules(policy, { pipeline }).length === 0)
    ) {
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
  return toPermit(decision);
}

const toPermit = ({ by, through }: Extract<AccessDecision, { allowed: true }>): Permit => ({
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
