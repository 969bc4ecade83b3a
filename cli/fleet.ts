import { allUnits, type PageRequest, type UnitsPage } from '../domain/deploy/allUnits';
import { planDeploy } from '../domain/deploy/plan';
import { PlanError } from '../domain/deploy/planLimits';
import { ConveyorError, conveyorError } from '../domain/errors';
import { redactUrl } from '../domain/redactUrl';
import type { Unit } from '../domain/fleet/unit';
import { usesWishes } from '../domain/offers/ofPipeline';
import { listDeployActions, type NamedDeploy } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { callExtension } from '../sdk/client';
import { pushTypeProtocol } from '../sdk/protocol/pushType';
import { loadRegistry } from '../settings/registry';
import type { Io } from './io';
import { resolveActor } from './door';

/** The units of a deploy, from its push type. @throws `plan-impossible` if there are too many, `extension-…` */
export async function askPushType(
  io: Io,
  spec: PipelineSpec,
  [name, { with: deploy }]: NamedDeploy,
  signal?: AbortSignal,
): Promise<readonly Unit[]> {
  if (usesWishes(spec, deploy.config))
    throw conveyorError('plan-impossible', {
      why: `the config of ${name} uses values of offers, which are known only when the deploy begins`,
    });
  const service = loadRegistry(undefined, io.env).find('push-type', deploy.pushType);
  const protocol = pushTypeProtocol;
  const context = {
    ...{ pipeline: spec.pipeline, release: 0, deployId: `${spec.pipeline}/plan/${name}`, actor: resolveActor(io) },
    config: deploy.config,
  };
  const fetchPage = async (request: PageRequest): Promise<UnitsPage> => {
    try {
      return await callExtension({
        service,
        protocol,
        method: 'fetchDeployUnits',
        request,
        context,
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (!(error instanceof ConveyorError)) throw error;
      const needed =
        error.code === 'extension-rejected'
          ? 'fix its config, or add the job to the simulated fleet with conveyor simulate job NAME'
          : `start ${service.name} (at ${redactUrl(service.url)})`;
      const hint = `a plan needs the fleet: ${needed}, or give its units with --units FILE`;
      throw new ConveyorError(error.code, error.message, hint, error.retryable, error.exit);
    }
  };
  const again = { service: service.name, method: 'fetchDeployUnits', field: 'next', detail: 'the same page again' };
  const pageAgain = () => conveyorError('extension-protocol', again);
  return (await asPlanImpossible(() => allUnits(deploy.pushType, fetchPage, pageAgain))).units;
}

/** How long `apply` waits for a push type; it continues without one. */
const FLEET_TIMEOUT_MS = 10_000;

/**
 * Whether deploys can update fleets as large as those of the pipeline, as far as its push types answer this machine.
 * Further units may appear later.
 * @throws plan-impossible
 */
export async function refuseLargeFleets(io: Io, spec: PipelineSpec): Promise<void> {
  await Promise.all(
    listDeployActions(spec).map(async (deploy) => {
      if (usesWishes(spec, deploy[1].with.config)) return;
      const units = await askPushType(io, spec, deploy, AbortSignal.timeout(FLEET_TIMEOUT_MS)).catch(unlessTooLarge);
      const [, { with: written }] = deploy;
      if (units) await asPlanImpossible(() => planDeploy({ ...written, allowEmpty: true }, units, [], ''));
    }),
  );
}

const unlessTooLarge = (error: unknown): undefined => {
  if (error instanceof ConveyorError && error.code === 'plan-impossible') throw error;
};

/** @throws plan-impossible if `plan` throws a PlanError */
export async function asPlanImpossible<T>(plan: () => T | Promise<T>): Promise<T> {
  try {
    return await plan();
  } catch (error) {
    throw error instanceof PlanError ? conveyorError('plan-impossible', { why: error.message }) : error;
  }
}
