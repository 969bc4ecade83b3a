import { excessText, over } from '../../excess';
import { OFFER_LIMITS, SPEC_LIMITS } from '../../limits';
import { findMaker, isWishedFor } from '../../offers/ofPipeline';
import { listPlaceholders, listWishedParts, parseArtifactField } from '../../offers/placeholders';
import { jsonBytes } from '../../size';
import type { OfferSpec } from '../offers';
import type { PipelineSpec } from '../pipeline';
import { errorAt, suggest, warningAt, type Finding, type Path } from '../problem';
import type { Rule } from '../rule';

const listDeploys = ({ actions }: PipelineSpec): string[] =>
  Object.keys(actions).filter((name) => actions[name]?.type === 'deploy');

/** An error if a name is not that of a deploy. */
function findUnknownDeploy(spec: PipelineSpec, name: string, path: Path): Finding[] {
  const action = spec.actions[name];
  const deploys = listDeploys(spec);
  if (action === undefined)
    return [errorAt(path, 'unknown-action', `there is no action ${name}`, suggest(name, deploys))];
  if (action.type === 'deploy') return [];
  return [errorAt(path, 'not-a-deploy', `${name} is not a deploy`, suggest('', deploys))];
}

function findDuplicates<T>(list: readonly T[], key: (item: T) => string, path: Path, code: string): Finding[] {
  return list.flatMap((item, index) =>
    list.findIndex((other) => key(other) === key(item)) === index
      ? []
      : [errorAt([...path, index], code, `${key(item)} is listed twice`, 'remove one')],
  );
}

/** Each offer is made after a deploy, from artifacts that this deploy takes. */
const checkOffers: Rule = (spec) => {
  const all = spec.offers ?? [];
  return [
    ...findDuplicates(all, ({ name }) => name, ['offers'], 'duplicate-offer'),
    ...all.flatMap((offer, index) => [
      ...findWrongMaker(spec, offer, ['offers', index]),
      ...findWrongValue(spec, offer, ['offers', index, 'value']),
    ]),
  ];
};

function findWrongMaker(spec: PipelineSpec, offer: OfferSpec, path: Path): Finding[] {
  if (offer.after !== undefined) return findUnknownDeploy(spec, offer.after, [...path, 'after']);
  const deploys = listDeploys(spec);
  if (deploys.length === 1) return [];
  const [message, hint] =
    deploys.length === 0
      ? [
          `no deploy makes the offer ${offer.name}`,
          'add a deploy: an offer is made once a deploy of its pipeline has succeeded',
        ]
      : [
          `the offer ${offer.name} does not say which of several deploys makes it`,
          `add after: ${deploys.join(' or ')}`,
        ];
  return [errorAt(path, 'offer-after', message, hint)];
}

function findWrongValue(spec: PipelineSpec, offer: OfferSpec, path: Path): Finding[] {
  const inputs = spec.actions[findMaker(spec, offer) ?? '']?.inputs ?? [];
  const excess = over(SPEC_LIMITS.offerValue, jsonBytes(offer.value));
  return [
    ...(excess ? [errorAt(path, 'over-limit', excessText(excess), 'store it elsewhere, and offer its address')] : []),
    ...listPlaceholders(offer.value).flatMap((name): Finding[] => {
      const field = parseArtifactField(name);
      if (field === undefined)
        return [
          errorAt(
            path,
            'bad-placeholder',
            `\${${name}} is not a field of an artifact`,
            'write ${artifact.version} or ${artifact.metadata.key}',
          ),
        ];
      if (inputs.includes(field.artifact)) return [];
      const message = `the deploy that makes ${offer.name} has no input ${field.artifact}`;
      return [errorAt(path, 'unknown-artifact', message, suggest(field.artifact, inputs))];
    }),
    ...findSecrets(offer, path),
  ];
}

const SECRET = /password|passwd|secret|token|private-?_?key|credential/i;

/** Every reader of a pipeline sees its offers. */
const findSecrets = ({ name, value }: OfferSpec, path: Path): Finding[] =>
  Object.entries(value)
    .filter(([key, part]) => SECRET.test(key) && typeof part === 'string' && !part.includes('${'))
    .map(([key]) => {
      const message = `the offer ${name} contains ${key}, which every reader of the pipeline sees`;
      return warningAt([...path, key], 'offer-secret', message, 'offer the name under which a secret store keeps it');
    });

/** Each wish is for an offer of another pipeline, and belongs to deploys of this one. */
const checkWishes: Rule = (spec) => {
  const all = spec.wishes ?? [];
  return [
    ...findDuplicates(all, ({ from, offer }) => `${offer} of ${from}`, ['wishes'], 'duplicate-wish'),
    ...all.flatMap((wish, index) => {
      const path = ['wishes', index];
      const own = `${spec.pipeline} would wait for its own offer`;
      return [
        ...(wish.from === spec.pipeline
          ? [errorAt([...path, 'from'], 'wish-for-own-offer', own, 'use needs between its own actions')]
          : []),
        ...(wish.for ?? []).flatMap((name, at) => findUnknownDeploy(spec, name, [...path, 'for', at])),
      ];
    }),
  ];
};

/** Each placeholder belongs to a wish of the deploy that contains it. */
const checkPlaceholders: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    if (action.type !== 'deploy' && action.type !== 'canary') return [];
    const wishes = action.type === 'deploy' ? (spec.wishes ?? []) : [];
    const known = wishes.filter((wish) => isWishedFor(wish, name)).map(({ from, offer }) => `${from}.${offer}`);
    const path = ['actions', name, 'with', 'config'];
    const parts = listWishedParts(action.with.config);
    const excess = over(OFFER_LIMITS.parts, parts.length);
    if (excess)
      return [errorAt(path, 'over-limit', excessText(excess), 'use the whole value: ${wishes.pipeline.offer}')];
    return parts.flatMap((part): Finding[] => {
      if ('broken' in part) {
        const message = `\${${part.broken}} names no offer`;
        return [errorAt(path, 'bad-placeholder', message, 'write ${wishes.pipeline.offer.key}')];
      }
      const wished = `${part.from}.${part.offer}`;
      if (known.includes(wished)) return [];
      return [
        errorAt(
          path,
          'unknown-wish',
          `${name} does not wish for ${part.offer} of ${part.from}`,
          suggest(wished, known),
        ),
      ];
    });
  });

const checkSize: Rule = ({ offers: offered = [], wishes: wished = [] }) => {
  const excess = over(SPEC_LIMITS.offersTogether, jsonBytes(offered) + jsonBytes(wished));
  return excess ? [errorAt(['offers'], 'over-limit', excessText(excess), 'make several pipelines of it')] : [];
};

export const offerRules: readonly Rule[] = [checkOffers, checkWishes, checkPlaceholders, checkSize];
