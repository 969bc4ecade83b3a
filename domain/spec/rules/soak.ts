import { ancestors, dependencies, findInputSource } from '../../release/graph';
import { formatDuration } from '../../text';
import type { Rule } from '../rule';
import type { PipelineSpec, SoakSpec } from '../pipeline';
import { errorAt, suggest, warningAt, type Finding, type Path } from '../problem';

/** The deploys in which a version has to soak come before the action, and can have run. */
const soaks: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    if ((action.type !== 'deploy' && action.type !== 'canary') || action.soak === undefined) return [];
    const path = ['actions', name, 'soak'];
    const { soak } = action;
    const where =
      'action' in soak ? inAction(spec, name, soak.action, [...path, 'action']) : elsewhere(spec, name, soak, path);
    return where.length > 0
      ? where
      : [...findOutlastingSoak(spec, soak, [...path, 'for']), ...overtaken(spec, soak, path)];
  });

function inAction(spec: PipelineSpec, name: string, place: string, path: Path): Finding[] {
  const { actions } = spec;
  const deploys = Object.keys(actions).filter((each) => each !== name && actions[each]?.type === 'deploy');
  const action = actions[place];
  if (action === undefined)
    return [errorAt(path, 'unknown-action', `there is no action ${place}`, suggest(place, deploys))];
  if (action.type !== 'deploy')
    return [errorAt(path, 'soaks-nowhere', `${place} is not a deploy: nothing stays there`, suggest(place, deploys))];
  if (!ancestors(dependencies(actions), name).has(place)) {
    const hint = place === name ? suggest('', deploys) : `add needs: [${place}] to ${name}, or to an action before it`;
    return [errorAt(path, 'soaks-later', `${place} does not come before ${name}`, hint)];
  }
  const shared = (actions[name]?.inputs ?? []).filter((input) => action.inputs.includes(input));
  if (shared.some((input) => isSameSource(spec, name, place, input))) {
    const odd = shared.find((input) => !isSameSource(spec, name, place, input));
    return odd === undefined ? [] : [ofAnother(path, name, place, odd)];
  }
  return [ofAnother(path, name, place, shared[0] ?? actions[name]?.inputs[0] ?? 'input')];
}

/** The version that soaks and the one that continues have the same source. */
const isSameSource = ({ actions }: PipelineSpec, name: string, place: string, input: string): boolean =>
  JSON.stringify(findInputSource(actions, name, input)) === JSON.stringify(findInputSource(actions, place, input));

function ofAnother(path: Path, name: string, place: string, input: string): Finding {
  const message = `${place} does not deploy the ${input} that ${name} deploys`;
  return errorAt(path, 'soaks-another', message, 'let both take the same input, made by the same action');
}

type Elsewhere = Extract<SoakSpec, { readonly pipeline: string }>;

function elsewhere(spec: PipelineSpec, name: string, { pipeline, artifact }: Elsewhere, path: Path): Finding[] {
  const inputs = spec.actions[name]?.inputs ?? [];
  const own = pipeline === spec.pipeline;
  return [
    ...(own
      ? [
          errorAt(
            [...path, 'pipeline'],
            'waits-for-itself',
            `${pipeline} would wait for its own release, which waits for this`,
            'write soak: { action: …, for: … } with a deploy of this pipeline, or name another pipeline',
          ),
        ]
      : []),
    ...(inputs.includes(artifact)
      ? []
      : [
          errorAt(
            [...path, 'artifact'],
            'soaks-another',
            `${name} does not deploy ${artifact}`,
            suggest(artifact, inputs),
          ),
        ]),
  ];
}

/** Releases that wait behind a soaking one would expire in the queue. */
function findOutlastingSoak({ releases }: PipelineSpec, soak: SoakSpec, path: Path): Finding[] {
  const { expireAfter } = releases;
  if (expireAfter === undefined || soak.for < expireAfter) return [];
  const message = `a soak of ${formatDuration(soak.for)} is no shorter than expireAfter: what is queued meanwhile expires`;
  return [warningAt(path, 'soak-outlasts', message, 'let releases expire later, or soak for less')];
}

/** In order, but several at once: the next release would end the soak of the one before, which cannot be superseded. */
function overtaken({ releases }: PipelineSpec, soak: SoakSpec, path: Path): Finding[] {
  if (!('action' in soak) || releases.supersede !== 'never' || releases.maxActive === 1) return [];
  const message = `the next release takes the place of what soaks in ${soak.action}, which fails then`;
  return [warningAt(path, 'soak-overtaken', message, 'add maxActive: 1, or let newer releases supersede older ones')];
}

export const soakRules: readonly Rule[] = [soaks];
