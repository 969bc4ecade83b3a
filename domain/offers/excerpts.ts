import type { Excerpt } from '../spec/excerpts';
import type { PipelineSpec } from '../spec/pipeline';
import type { WishCheck } from '../views';
import { listMisfits, listPaths, type RangeTest, type Wish } from './judge';
import { listWishes } from './ofPipeline';
import { compareSchemas, type ValueSchema } from './schema';

type OfferingSpec = Pick<PipelineSpec, 'pipeline' | 'offers'>;
type WishingSpec = Pick<PipelineSpec, 'pipeline' | 'actions' | 'wishes'>;

/** The excerpt of a pipeline, from its file. The keys of a value are known, even if what they hold is not. */
export const makeExcerpt = ({ pipeline, offers = [] }: OfferingSpec): Excerpt => ({
  pipeline,
  offers: offers.map(({ name, version, to, value, schema }) => ({
    ...{ name, version: version ?? null, to },
    parts: listPaths(value),
    ...(schema === undefined ? {} : { schema }),
  })),
});

/**
 * Judges the wishes of files by the offers of these files, and by excerpts of other pipelines. For a pipeline with both, the file counts, and an
 * offer that only its excerpt has is removed.
 * @param allow offers, such as `network/vpc`, whose misfits are allowed
 */
export function checkWishes(
  files: readonly (OfferingSpec & WishingSpec)[],
  excerpts: readonly Excerpt[],
  allow: readonly string[],
  isInRange: RangeTest,
): WishCheck[] {
  const own = files.map(makeExcerpt);
  const find = (among: readonly Excerpt[], name: string) => among.find(({ pipeline }) => pipeline === name);
  return files.flatMap((file) =>
    listFileWishes(file).map((wish): WishCheck => {
      const { from, offer, version, paths } = wish;
      const judged = judgeWish(file.pipeline, wish, { file: find(own, from), kept: find(excerpts, from) }, isInRange);
      return {
        ...{ pipeline: file.pipeline, from, offer, range: version ?? null, parts: paths },
        ...judged,
        allowed: judged.verdict === 'does-not-fit' && allow.includes(`${from}/${offer}`),
      };
    }),
  );
}

/** The misfits that are not allowed. */
export const listRefused = (checked: readonly WishCheck[]): WishCheck[] =>
  checked.filter(({ verdict, allowed }) => verdict === 'does-not-fit' && !allowed);

/** Each wish of a file once, with the parts that any of its deploys uses. */
function listFileWishes(spec: WishingSpec): Wish[] {
  const all = Object.keys(spec.actions).flatMap((action) => listWishes(spec, action));
  return (spec.wishes ?? []).map(({ from, offer, version, schema }) => {
    const same = all.filter((wish) => wish.from === from && wish.offer === offer);
    const paths = [...new Set(same.flatMap((wish) => wish.paths))];
    return {
      ...{ from, offer, paths },
      ...(version === undefined ? {} : { version }),
      ...(schema === undefined ? {} : { schema }),
    };
  });
}

/** The excerpt of one pipeline: by its file, and by the file of excerpts. */
interface KnownExcerpts {
  readonly file: Excerpt | undefined;
  readonly kept: Excerpt | undefined;
}

function judgeWish(
  pipeline: string,
  wish: Wish,
  { file, kept }: KnownExcerpts,
  isInRange: RangeTest,
): Pick<WishCheck, 'verdict' | 'why'> {
  const { from, offer: name } = wish;
  const known = file ?? kept;
  if (known === undefined) return { verdict: 'undecidable', why: `there is no excerpt of ${from}` };
  const offer = known.offers.find((one) => one.name === name);
  if (offer === undefined)
    return known === file && kept?.offers.some((one) => one.name === name)
      ? { verdict: 'does-not-fit', why: `the file of ${from} does not offer ${name} any more` }
      : { verdict: 'undecidable', why: `${from} does not offer ${name}` };
  const has = (path: string): boolean => path === '' || offer.parts.includes(path);
  const compare = (schema: ValueSchema) => compareSchemas(offer.schema, schema);
  const misfits = listMisfits(pipeline, wish, { ...offer, has, compare }, isInRange);
  const first = misfits.find(({ isOpen }) => !isOpen) ?? misfits[0];
  return first === undefined
    ? { verdict: 'fits', why: null }
    : { verdict: first.isOpen ? 'undecidable' : 'does-not-fit', why: first.why };
}
