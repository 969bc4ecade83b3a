import { nameDeploy, type Draft } from './drafts';
import { Broken } from './oracle';

/** Whether files are refused for a circle exactly if there is one, and for a real one. */
export function checkApply(name: string, circle: readonly string[] | undefined, drafts: readonly Draft[]): void {
  const isCircle = isCircular(drafts);
  if (circle === undefined && isCircle) throw new Broken(6, `${name} is applied, and deploys wait for each other`);
  if (circle !== undefined && !isCircle) throw new Broken(6, `${name} is refused for ${circle.join(' → ')}`);
  const isOne = (circle ?? []).slice(1).every((next, at) => awaitedBy(drafts, circle?.[at] ?? '').includes(next));
  if (circle && (!isOne || circle.length < 2 || circle[0] !== circle.at(-1)))
    throw new Broken(6, `${circle.join(' → ')} is no circle`);
}

/** The deploys that a deploy waits for, as the files say it. */
function awaitedBy(drafts: readonly Draft[], node: string): string[] {
  const [name, action = ''] = node.split('/');
  const deploy = Number(action.slice(1));
  const draft = drafts.find((one) => one.name === name);
  if (draft === undefined) return [];
  const wished = draft.wishes
    .filter((wish) => wish.for.includes(deploy))
    .flatMap(({ from, offer }) => {
      const other = drafts.find((one) => one.name === from);
      const made = other?.offers.find((one) => one.name === offer);
      return other && made ? [`${from}/${nameDeploy(other, made.after)}`] : [];
    });
  return [...(draft.chained && deploy > 0 ? [`${name}/${nameDeploy(draft, deploy - 1)}`] : []), ...wished];
}

/** Takes away deploys that wait for none of the others, until none is left, or a circle. */
function isCircular(drafts: readonly Draft[]): boolean {
  for (
    let left = drafts.flatMap((draft) =>
      draft.deploys.map((_, deploy) => `${draft.name}/${nameDeploy(draft, deploy)}`),
    );
    ;
  ) {
    const next = left.filter((node) => awaitedBy(drafts, node).some((other) => left.includes(other)));
    if (next.length === left.length) return next.length > 0;
    left = next;
  }
}
