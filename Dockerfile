# The container form of the appliance. BASE is Debian with the packages of image/files/packages.list (those of DPDK, iproute2 and
# chrony are enough); `make container` makes it of the build machine's own package sources, so that nothing is fetched here. The
# programs are those that it has built.
ARG BASE=localhost/sluice-base:bookworm

FROM ${BASE} AS programs
COPY image/out/container/bin/ /out/usr/bin/
# A library that BASE lacks is found here and not when the container starts.
RUN chmod 0755 /out/usr/bin/* && /out/usr/bin/sluice-dataplane -version && /out/usr/bin/sluice-mgmt -version && mkdir -p -m 0700 /out/config

FROM ${BASE}
COPY --from=programs /out/ /
# /config is where the configuration is given and kept: mount a folder there.
ENTRYPOINT ["/usr/bin/sluice-container"]
