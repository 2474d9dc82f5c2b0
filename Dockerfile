# The command medley as an image, on the files of the current folder:
#   docker build -t medley .
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" medley train --model m.medley train.csv
FROM debian:12 AS build
RUN apt-get update && \
    apt-get install -y --no-install-recommends \
        cmake coinor-libclp-dev gcc libc6-dev libdeflate-dev libopenblas-dev libsvm-dev make zlib1g-dev && \
    rm -rf /var/lib/apt/lists/*
COPY . /source
RUN cmake -S /source -B /build -DCMAKE_INSTALL_PREFIX=/usr/local -DMEDLEY_TESTS=OFF -DMEDLEY_BENCH=OFF && \
    cmake --build /build -j "$(nproc)" && \
    DESTDIR=/installed cmake --install /build

FROM debian:12-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends coinor-libclp1 libdeflate0 libopenblas0-pthread libsvm3 zlib1g && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/ /
RUN ldconfig && medley --version
WORKDIR /data
USER nobody
ENTRYPOINT ["medley"]
CMD ["--help"]
