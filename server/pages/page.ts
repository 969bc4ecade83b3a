import type { Context } from 'hono';
import type { Frame } from '../../pages/frame';
import type { ApiDeps } from '../apiRoute';
import { authenticate, type Caller } from '../auth';
import type { PageEnv } from '../sessions/viewer';
import type { SharedLooks } from './looks';

/** The sources of pages: those of the routes of `/v1`, and looks that all readers share. */
export interface PageSource extends ApiDeps {
  readonly looks: SharedLooks;
}

interface PageParts<M extends object> {
  /** The model, or an answer instead of the page. */
  readonly read: (c: Context) => Promise<M | Response>;
  readonly render: (model: M, frame: Frame) => string;
  /** The same as JSON, which is the answer of the API; by default the model. */
  readonly twin?: (c: Context) => Promise<object>;
}

/** A page without the type of its model. */
interface OpenPage {
  page(c: Context, toFrame: () => Promise<Frame>): Promise<string | Response>;
  twin(c: Context): Promise<object>;
}

interface PageAddress {
  readonly paths: readonly string[];
  /** The name by which the way around leads to its first path; without one, other pages lead to it. */
  readonly link?: string;
}

/** A page by its paths, each of which may end in `.json`. */
export interface ReadPage extends PageAddress {
  readonly open: (source: PageSource) => OpenPage;
}

export const createPageRow = <M extends object>(
  address: PageAddress,
  make: (source: PageSource) => PageParts<M>,
): ReadPage => ({
  ...address,
  open: (source) => {
    const { read, render, twin = read } = make(source);
    return {
      page: async (c, toFrame) => {
        const found = await read(c);
        return found instanceof Response ? found : render(found, await toFrame());
      },
      twin,
    };
  },
});

/** The reader of a page as the routes of `/v1` know a caller. @throws ConveyorError `unauthorized` */
export const findReader = async (c: Context, deps: ApiDeps): Promise<Caller> =>
  (c as Context<PageEnv>).get('caller') ?? (await authenticate(c, deps));

/** A part of a path, without the ending of a twin. */
export const getPathPart = (c: Context, name: string): string => (c.req.param(name) ?? '').replace(/\.json$/, '');
