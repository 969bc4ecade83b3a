import type { OfferedCommand } from '../domain/commandOffers';
import type { View } from '../render/paint';

/** The surroundings of a page: its reader and its moment. */
export interface Frame {
  /** The time and the zone. Pages have no colours of a terminal, and no line of a page is folded. */
  readonly view: View;
  /** The principal of the reader; null while the server does not know it. */
  readonly viewer: string | null;
  /** The token of every form of a reader who has signed in. */
  readonly csrf: string | null;
  /** Whether readers can sign in. */
  readonly signsIn: boolean;
  /** The path of the page with its query: `/pipelines?owner=group:web`. */
  readonly path: string;
  /** The pages that the way around leads to, in order, each by its path; missing for a page that leads nowhere else. */
  readonly places?: readonly PagePlace[];
  /** A hash of the model, for a page that is kept up to date; missing for others. */
  readonly model?: string;
  /** The effect of the command that the reader has just given here. */
  readonly notice?: string | null;
}

/** A page in the way around, such as `/bugs` by the name *Bugs*. */
export type PagePlace = readonly [path: string, name: string];

/** No text of a page is cut or folded by its width. */
export const PAGE_WIDTH = 1_000_000;

/** The path of the same page as JSON: `/pipelines.json?owner=group:web`. */
export function getTwinPath(path: string): string {
  const [place = '', query] = path.split('?');
  return `${place === '/' ? '/index' : place}.json${query === undefined ? '' : `?${query}`}`;
}

/** The page about a command before it is given: `/releases/kvstore/12/deploy/commands/revert`. */
export const getCommandPath = ({ target, verb }: Pick<OfferedCommand, 'target' | 'verb'>): string =>
  `${getPagePath(target)}/commands/${verb}`;

/** The field for the version of an input: `version.source`. */
export const toVersionField = (input: string): string => `version.${input}`;

/** The page of a pipeline, release or deploy, by its id. */
export const getPagePath = (id: string): string => `/${id.includes('/') ? 'releases' : 'pipelines'}/${id}`;
