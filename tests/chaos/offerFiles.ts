import type { PipelineSource } from '../../domain/spec/pipeline';
import type { Draft, DraftOffer, DraftWish } from '../domain/offers/stories/drafts';
import { deployAction } from '../workflows/flows';
import type { Action, Member } from './scenario';

type Offer = NonNullable<PipelineSource['offers']>[number];
type Wish = NonNullable<PipelineSource['wishes']>[number];
/** The name of the pipeline of a draft. */
type Name = (draft: string) => string;

/** The file of a pipeline with the offers and wishes of a draft. Its last deploy is `deploy`, and the one before is `early`. */
export function toFile({ pipeline, source, jobs }: Member, draft: Draft, name: Name, takes: boolean): Member['source'] {
  const { early: _early, deploy, ...others } = source.actions;
  const actionOf = (at: number): string => (at === draft.deploys.length - 1 ? 'deploy' : 'early');
  const hasEarly = draft.deploys.length > 1;
  const needs = [
    ...(deploy.needs ?? []).filter((one) => one !== 'early'),
    ...(hasEarly && draft.chained ? ['early'] : []),
  ];
  const taken = takes ? draft.wishes.find((wish) => wish.for.some((at) => actionOf(at) === 'deploy')) : undefined;
  const place = taken && { finder: 'offer', with: { pipeline: name(taken.from), offer: taken.offer } };
  const main: Action = {
    ...deploy,
    inputs: ['executable', ...(place ? ['place'] : [])],
    ...(needs.length > 0 ? { needs } : {}),
  };
  const partsOf = (action: string): readonly string[] =>
    draft.wishes.flatMap(({ from, offer, parts, for: deploys }) =>
      deploys.some((at) => actionOf(at) === action)
        ? parts.map((part) => `\${wishes.${name(from)}.${offer}.${part}}`)
        : [],
    );
  const earlyJob = jobs.find((job) => job.name === `${pipeline}-early`)?.name ?? '';
  const early = deployAction('1m', {}) as Action;
  const offers = draft.offers.map((offer) => toOffer(pipeline, offer, actionOf, name));
  const wishes = draft.wishes.map((wish) => toWish(wish, actionOf, name));
  return {
    ...source,
    artifacts: { executable: { finder: 'manual' }, ...(place ? { place } : {}) },
    offers,
    wishes,
    actions: {
      ...others,
      ...(hasEarly
        ? { early: withParts({ ...early, with: { ...early.with, config: { jobs: [earlyJob] } } }, partsOf('early')) }
        : {}),
      deploy: withParts(main, partsOf('deploy')),
    },
  };
}

/** Only `twine` knows variables of tasks. */
function withParts(action: Action, texts: readonly string[]): Action {
  const { env: _env, ...config } = action.with.config as Record<string, unknown>;
  if (texts.length === 0 || action.with.pushType !== 'twine') return { ...action, with: { ...action.with, config } };
  const env = Object.fromEntries(texts.map((text, nth) => [`V${nth}`, text]));
  return { ...action, with: { ...action.with, config: { ...config, env } } };
}

const toOffer = (
  pipeline: string,
  { name, after, major, minor, parts, to }: DraftOffer,
  actionOf: (at: number) => string,
  nameOf: Name,
): Offer => ({
  ...{ name, after: actionOf(after), version: `${major}.${minor}.0`, to: to.map(nameOf) },
  value: {
    ...(parts.includes('id') ? { id: `${pipeline}.${name}` } : {}),
    ...(parts.includes('by') ? { by: '${executable.version}' } : {}),
    // A change of type that the version does not tell.
    ...(parts.includes('net.size') ? { net: { size: minor === 2 ? 'large' : 24 } } : {}),
  },
});

const SIZED = {
  type: 'object',
  properties: { net: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } },
  required: ['net'],
} as const;

const toWish = (
  { from, offer, range, for: deploys, parts }: DraftWish,
  actionOf: (at: number) => string,
  name: Name,
): Wish => ({
  ...{ from: name(from), offer, for: deploys.map(actionOf) },
  ...(range === null ? {} : { version: range }),
  ...(range !== null && parts.includes('net.size') ? { schema: SIZED } : {}),
});
