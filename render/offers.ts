import { deployId } from '../domain/ids';
import { describeOffer } from '../domain/offers/judge';
import { conjugate, joinWords, plural } from '../domain/text';
import type { OfferDetails, OfferList, OfferUserView, OfferView, PipelineOffers, WishCheck } from '../domain/views';
import { alignRows, blockTable, listTable } from './columns';
import { fieldLines, joinSections } from './deploy';
import { problemLines } from './lists';
import { paint, tint, wrap, type Colors, type View } from './paint';
import { ago } from './times';
import type { StatusSymbol } from './words';

/** The mark of a user of an offer that does not fit it, or has changed since. */
export const userMark = ({ behind, risk }: Pick<OfferUserView, 'behind' | 'risk'>): string | null =>
  risk === undefined ? (behind ? 'an earlier value' : null) : `at risk: ${risk}`;

/** The ways out of a broken offer; none for offers that are not broken. */
export function listWaysOut(pipeline: string, offers: readonly OfferView[]): readonly string[] {
  const atRisk = offers.flatMap(({ users }) => users.filter(({ risk }) => risk !== undefined));
  const [first] = atRisk;
  return first === undefined
    ? []
    : [
        `Deploys at risk keep running. To end that, release ${pipeline} with offers that fit them, or change their wishes and release them.`,
        `If a deploy is gone: conveyor end-use ${pipeline} ${first.user} --reason "…"`,
      ];
}

export function offerStateText(
  { state, since, notMadeBy }: Pick<OfferView, 'state' | 'since' | 'notMadeBy'>,
  view: View,
  colors: Colors,
): string {
  switch (state) {
    case 'unmade':
      return colors.dim(notMadeBy === undefined ? 'not made yet' : `not made by release ${notMadeBy}`);
    case 'made':
      return colors.green(`✔ made${since === null ? '' : ` ${ago(since, view)}`}`);
    case 'changing':
      return tint(colors, 'busy', '◌ being changed');
    case 'removing':
      return tint(colors, 'busy', '◌ being removed');
    case 'withdrawing':
      return tint(colors, 'warn', '⚠ being withdrawn');
    case 'broken':
      return tint(colors, 'bad', '✖ broken');
    default:
      // A server of a later version may know more states.
      return state;
  }
}

/** `conveyor offers list`. */
export function renderOfferList({ offers, more, unread, unasked }: OfferList, view: View, wide: boolean): string {
  const colors = paint(view.color);
  const heading = ['OFFER', 'VERSION', 'STATE', 'USERS', 'SINCE', ...(wide ? ['RELEASE', 'FOR'] : [])];
  const rows = offers.map(({ id, pipeline, version, state, users, atRisk, since, release, to }) => [
    colors.bold(id),
    version ?? '–',
    offerStateText({ state, since: null }, view, colors),
    atRisk === undefined ? String(users) : `${users} (${atRisk} at risk)`,
    ago(since, view),
    ...(wide ? [`${pipeline}/${release}`, to.join(', ')] : []),
  ]);
  const isWhole = unread.length + unasked === 0;
  const below = [
    ...problemLines(unread, colors),
    ...(unasked === 0
      ? []
      : [colors.yellow(`⚠ ${plural(unasked, 'pipeline')} with offers ${unasked === 1 ? 'was' : 'were'} not asked`)]),
    ...(more === 0 ? [] : [colors.dim(`${plural(more, 'offer')} more: --limit ${offers.length + more}`)]),
  ];
  const empty = isWhole
    ? 'no offers; a pipeline file declares them under offers:'
    : 'no offers of the pipelines that answered';
  return listTable({ heading, rows, empty, below, wide }, view);
}

/** `conveyor offers show`. */
export function renderPipelineOffers({ id, offers, changes }: PipelineOffers, view: View): string {
  const colors = paint(view.color);
  const changing = changes.map(
    ({ release, action, offers: names }) => `${deployId(id, release, action)} changes ${joinWords(names, 'and')}`,
  );
  return joinSections(
    [
      ...(offers.length === 0
        ? [[`${id} has no offers`]]
        : offers.map((offer) => offerSection(id, offer, view, colors))),
      listWaysOut(id, offers).flatMap((text) => wrap(text, view.width)),
      changing.length === 0 ? [] : [colors.bold('Changes under way'), ...changing.map((line) => `  ${line}`)],
    ],
    view,
  );
}

function offerSection(pipeline: string, offer: OfferDetails, view: View, colors: Colors): string[] {
  const { release, action, value, to, users } = offer;
  const by = release === null || action === null ? '' : `, by ${deployId(pipeline, release, action)}`;
  const fields = fieldLines(
    [
      ['Offer', colors.bold(describeOffer(offer))],
      ['State', `${offerStateText(offer, view, colors)}${by}`],
      ['For', to.includes('*') ? 'all pipelines' : to.join(', ')],
      users.length > 0 || release === null ? null : ['Users', 'none'],
    ],
    colors,
  );
  const parts = Object.entries(value ?? {}).map(([key, part]) => [`  ${key}`, JSON.stringify(part)]);
  const values = parts.length === 0 ? [] : [colors.bold('Value:'), ...alignRows(parts)];
  if (users.length === 0) return [...fields, ...values];
  const rows = users.flatMap(({ user, risk, pins }) =>
    pins.map(({ release: pinned, range, parts, behind }, at) => [
      at === 0 ? user : '',
      String(pinned),
      range ?? 'any',
      parts.map((part) => (part === '' ? 'the whole value' : part)).join(', ') || '–',
      pinMark(at === pins.length - 1 && risk !== undefined ? { behind, risk } : { behind }, colors),
    ]),
  );
  return [
    ...fields,
    ...values,
    ...blockTable(['USER', 'RELEASE', 'WISHES FOR', 'USES', ''], rows, '', view).split('\n'),
  ];
}

function pinMark(pin: Pick<OfferUserView, 'behind' | 'risk'>, colors: Colors): string {
  const mark = userMark(pin);
  return mark === null ? '' : tint(colors, pin.risk === undefined ? 'warn' : 'bad', `⚠ ${mark}`);
}

const VERDICTS: Readonly<Record<WishCheck['verdict'], StatusSymbol>> = {
  fits: { glyph: '✔', tone: 'good' },
  'does-not-fit': { glyph: '✖', tone: 'bad' },
  undecidable: { glyph: '·', tone: 'quiet' },
};

/** `conveyor offers check`. */
export function renderWishChecks(checked: readonly WishCheck[], view: View): string {
  const colors = paint(view.color);
  if (checked.length === 0) return 'no wishes';
  const rows = checked.map((wish) => {
    const { glyph, tone } = VERDICTS[wish.verdict];
    return [
      `${tint(colors, wish.allowed ? 'warn' : tone, glyph)} ${colors.bold(wish.pipeline)}`,
      `${describeOffer({ name: wish.offer, version: wish.range })} of ${wish.from}`,
      tint(colors, wish.allowed ? 'warn' : tone, `${wish.verdict}${wish.allowed ? ' (allowed)' : ''}`),
      wish.why ?? '',
    ];
  });
  const count = (verdict: WishCheck['verdict']): number => checked.filter((wish) => wish.verdict === verdict).length;
  const [fits, unfit] = [count('fits'), count('does-not-fit')];
  const counts = [
    `${fits} ${conjugate(fits, 'fit')}`,
    `${unfit} ${unfit === 1 ? 'does' : 'do'} not fit`,
    `${count('undecidable')} undecidable`,
  ];
  return joinSections(
    [alignRows(rows), [`${checked.length} ${checked.length === 1 ? 'wish' : 'wishes'}: ${counts.join(', ')}`]],
    view,
  );
}
